/** The list of shortcuts, and the switch that turns them off. */
import { isHelpOpen } from '../state/keyboard.js'
import { shortcuts } from '../state/preferences.js'
import { t } from '../state/translate.js'
import { Dialog } from './dialog.js'

export function ShortcutHelp() {
  const rows: readonly (readonly [string, string])[] = [
    ['/', t('shortcut.search')],
    ['j k', t('shortcut.move')],
    ['Enter', t('shortcut.open')],
    ['r', t('shortcut.replay')],
    ['?', t('shortcut.help')],
  ]
  return (
    <Dialog
      title={t('shortcut.title')}
      onClose={() => {
        isHelpOpen.value = false
      }}
    >
      <dl class="facts">
        {rows.map(([keys, meaning]) => [
          <dt key={keys}>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>,
          <dd key={meaning}>{meaning}</dd>,
        ])}
      </dl>
      <label class="row">
        <input
          type="checkbox"
          checked={shortcuts.value === 'on'}
          onChange={(event) => {
            shortcuts.value = event.currentTarget.checked ? 'on' : 'off'
          }}
        />
        {t('shortcut.on')}
      </label>
    </Dialog>
  )
}
