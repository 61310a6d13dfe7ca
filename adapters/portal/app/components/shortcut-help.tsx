/** The list of shortcuts, and the switch that turns them off. */
import { isHelpOpen } from '../state/keyboard.js'
import { shortcuts } from '../state/preferences.js'
import { t } from '../state/translate.js'
import { Dialog } from './dialog.js'

export function ShortcutHelp() {
  const rows: readonly (readonly [string, string])[] = [
    ['/', t('keys.search')],
    ['j k', t('keys.move')],
    ['Enter', t('keys.open')],
    ['r', t('keys.replay')],
    ['?', t('keys.help')],
  ]
  return (
    <Dialog
      title={t('keys.title')}
      onClose={() => {
        isHelpOpen.value = false
      }}
    >
      <dl class="keys">
        {rows.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input
          type="checkbox"
          checked={shortcuts.value === 'on'}
          onChange={(event) => {
            shortcuts.value = event.currentTarget.checked ? 'on' : 'off'
          }}
        />
        {t('keys.on')}
      </label>
    </Dialog>
  )
}
