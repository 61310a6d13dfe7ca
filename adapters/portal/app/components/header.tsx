/** The header of every screen: the host's brand, the account, the sections, the search and the user's menu. */
import { useSignal } from '@preact/signals'
import { revoke } from '../api/api.js'
import { SETTINGS } from '../api/settings.js'
import { isHelpOpen, SEARCH_ID } from '../state/keyboard.js'
import { LANGUAGES, language, theme, zone } from '../state/preferences.js'
import { navigate, route } from '../state/router.js'
import { accountId, isOperator, userName } from '../state/scope.js'
import { end } from '../state/session.js'
import { t } from '../state/translate.js'
import { whenSaved } from '../state/unsaved.js'
import { formatRoute } from '../text/routes.js'
import { AccountSwitcher } from './account-switcher.js'
import { Brand } from './brand.js'
import { Button, LinkButton } from './button.js'
import { Icon } from './icon.js'
import { Popup } from './popup.js'
import { Seg } from './seg.js'
import { zoneLongText } from './time.js'

export function Header() {
  const account = accountId.value
  return (
    <>
      <button
        type="button"
        class="btn skip"
        onClick={() => document.querySelector<HTMLElement>('#main h1')?.focus()}
      >
        {t('nav.skip')}
      </button>
      <header class="top">
        <Brand href={formatRoute({ screen: 'webhooks', accountId: account })} />
        <span class="slash" aria-hidden="true">
          /
        </span>
        <AccountSwitcher />
        <Sections />
        <SearchBox />
        <span class="phone push">
          <LinkButton
            kind="quiet"
            icon="find"
            label={t('search.title')}
            href={formatRoute({ screen: 'search', accountId: account })}
          />
        </span>
        <span class="wide-only">
          <Button kind="quiet" icon="half" label={t('menu.lightOrDark')} onClick={toggleTheme} />
        </span>
        <UserMenu />
      </header>
    </>
  )
}

/** The section to which each screen belongs. */
const SECTION: Readonly<Record<string, string>> = {
  webhooks: 'webhooks',
  webhook: 'webhooks',
  new: 'webhooks',
  delivery: 'webhooks',
  call: 'webhooks',
}

function Sections() {
  const { screen } = route.value
  const current = SECTION[screen] ?? screen
  const sections = [
    ['webhooks', t('nav.webhooks')],
    ['live', t('nav.live')],
    ['match', t('nav.match')],
    ...(isOperator.value ? [['operator', t('nav.operator')] as const] : []),
  ] as const
  return (
    <nav class="nav" aria-label={t('nav.label')}>
      {sections.map(([name, text]) => (
        <a
          key={name}
          href={formatRoute({ screen: name, accountId: accountId.value })}
          aria-current={name === current ? 'page' : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}

function SearchBox() {
  const text = useSignal('')
  const placeholder = t(isOperator.value ? 'search.placeholderAll' : 'search.placeholder')
  return (
    <form
      role="search"
      class={isOperator.value ? 'field find far push' : 'field find push'}
      onSubmit={(event) => {
        event.preventDefault()
        const q = text.value.trim()
        if (q === '') return
        text.value = ''
        navigate({ screen: 'search', accountId: accountId.value, query: { q } })
      }}
    >
      <Icon name="find" />
      <input
        id={SEARCH_ID}
        type="search"
        aria-label={t('search.label')}
        placeholder={placeholder}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={255}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value
        }}
      />
      <kbd>/</kbd>
    </form>
  )
}

function toggleTheme(): void {
  const isDark =
    theme.value === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme.value === 'dark'
  theme.value = isDark ? 'light' : 'dark'
}

/** `AL` of `Alma Lindqvist`. */
const initials = (name: string) =>
  name
    .split(/[\s._-]+/, 2)
    .map(([first = '']) => first.toUpperCase())
    .join('')

function UserMenu() {
  const name = userName.value
  return (
    <Popup
      class="avatar"
      align="end"
      label={name === undefined ? t('menu.title') : t('menu.ofUser', { name })}
      button={name === undefined ? <Icon name="user" /> : initials(name)}
    >
      {(close) => (
        <div class="settings">
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
              close()
              isHelpOpen.value = true
            }}
          >
            {t('shortcut.title')}
          </button>
          <button type="button" class="item" onClick={signOut}>
            {t('menu.signOut')}
          </button>
        </div>
      )}
    </Popup>
  )
}

export const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch' } as const

function signOut(): void {
  whenSaved(() => {
    const ended = end()
    if (ended) void revoke(ended)
  })
}
