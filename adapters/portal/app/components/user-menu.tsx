/** What the user prefers, help, and signing out. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { revoke } from '../api/api.js'
import { SETTINGS } from '../api/settings.js'
import { isHelpOpen } from '../state/keyboard.js'
import { LANGUAGE_NAMES, LANGUAGES, language, theme, zone } from '../state/preferences.js'
import { signOut } from '../state/session.js'
import { t } from '../state/translate.js'
import { whenSaved } from '../state/unsaved.js'
import { focusFirst } from './popup.js'
import { Seg } from './seg.js'
import { zoneLongText } from './time.js'

interface UserMenuItemsProps {
  /** Name of the user; `undefined` for an API key. */
  readonly name: string | undefined
  /** Closes the menu. */
  readonly onDone: () => void
}

export function UserMenuItems({ name, onDone }: UserMenuItemsProps) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => focusFirst(box.current!), [])
  return (
    <div ref={box} class="settings">
      {name !== undefined && <b class="item-text">{name}</b>}
      <Seg
        label={t('menu.zone')}
        isEven
        options={[
          { value: 'local', text: t('menu.local') },
          { value: 'utc', text: 'UTC' },
        ]}
        value={zone.value}
        onChange={(value) => {
          zone.value = value
        }}
      />
      <p class="item-text small soft">{t('menu.zoneText', { zone: zoneLongText() })}</p>
      <Seg
        label={t('menu.theme')}
        isEven
        options={[
          { value: 'auto', text: t('menu.auto') },
          { value: 'light', text: t('menu.light') },
          { value: 'dark', text: t('menu.dark') },
        ]}
        value={theme.value}
        onChange={(value) => {
          theme.value = value
        }}
      />
      <Seg
        label={t('menu.language')}
        isEven
        options={LANGUAGES.map((code) => ({ value: code, text: LANGUAGE_NAMES[code] }))}
        value={language.value}
        onChange={(value) => {
          language.value = value
        }}
      />
      {SETTINGS.helpUrl !== undefined && (
        <a class="item" href={SETTINGS.helpUrl} target="_blank" rel="noreferrer">
          {t('menu.help', { title: SETTINGS.title })}
        </a>
      )}
      <button
        type="button"
        class="item wide-only"
        onClick={() => {
          onDone()
          isHelpOpen.value = true
        }}
      >
        {t('shortcut.title')}
      </button>
      <button type="button" class="item" onClick={() => whenSaved(() => signOut(revoke))}>
        {t('menu.signOut')}
      </button>
    </div>
  )
}
