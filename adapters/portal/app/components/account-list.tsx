/** The accounts that a user may choose, with a search where there are many. */
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { type FoundAccount, findAccounts } from '../api/accounts.js'
import { useResource } from '../state/resource.js'
import { route } from '../state/router.js'
import { accountId, isOperator, ownAccountName } from '../state/scope.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { Icon } from './icon.js'
import { focusFirst } from './popup.js'

interface AccountsProps {
  readonly own: string
  readonly items: readonly FoundAccount[]
  /** Whether there are accounts that the list does not have. */
  readonly canFind: boolean
  readonly onChosen: () => void
}

/** The user stops typing. */
const TYPED_MS = 200

export function Accounts({ own, items, canFind, onChosen }: AccountsProps) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => focusFirst(box.current!), [])
  const typed = useSignal('')
  const text = useSignal('')
  const wanted = typed.value.trim()
  useEffect(() => {
    const timer = setTimeout(() => {
      text.value = wanted
    }, TYPED_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const found = useResource(
    async (signal) =>
      text.value === '' ? undefined : findAccounts(own, text.value, isOperator.value, signal),
    [text.value],
  )
  const shown = wanted === '' ? [{ id: own, name: ownAccountName.value ?? own }, ...items] : found.data.value
  const current = route.value.screen === 'operator' ? undefined : accountId.value
  return (
    <div ref={box}>
      {canFind && (
        <div class="field">
          <Icon name="find" />
          <input
            type="search"
            aria-label={t('nav.findAccount')}
            placeholder={t('nav.findAccount')}
            autocomplete="off"
            spellcheck={false}
            maxLength={128}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value
            }}
          />
        </div>
      )}
      <ul class="items">
        {isOperator.value && wanted === '' && (
          <li>
            <a
              class="item"
              href={formatRoute({ screen: 'operator' })}
              aria-current={current === undefined ? 'true' : undefined}
              onClick={onChosen}
            >
              {t('nav.allAccounts')}
            </a>
          </li>
        )}
        {shown?.map(({ id, name }) => (
          <li key={id}>
            <a
              class="item"
              href={formatRoute({ screen: 'webhooks', accountId: id })}
              aria-current={id === current ? 'true' : undefined}
              onClick={onChosen}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
      <p class="item-text small soft" role="status">
        {wanted !== '' && shown?.length === 0 && t('nav.noAccount', { text: wanted })}
      </p>
    </div>
  )
}
