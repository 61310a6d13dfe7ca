/** The account whose data is shown, and the other accounts of the user: those below it, for operators all. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { accountList, type FoundAccount, findAccounts } from '../api/accounts.js'
import { useResource } from '../state/resource.js'
import { route } from '../state/router.js'
import { accountId, accountName, isOperator, ownAccountName } from '../state/scope.js'
import { session } from '../state/session.js'
import { t } from '../state/translate.js'
import { formatRoute } from '../text/routes.js'
import { Icon } from './icon.js'
import { Popup } from './popup.js'

export function AccountSwitcher() {
  const own = session.value!.accountId
  const accounts = useResource(async (signal) => accountList(own, signal), [own])
  const { items = [], hasMore = false } = accounts.data.value ?? {}
  const isEverything = route.value.screen === 'operator'
  const name = isEverything ? t('nav.allAccounts') : accountName.value
  // Operators see accounts that are not below theirs.
  if (items.length === 0 && !isOperator.value && accountId.value === own) {
    return (
      <span class="btn quiet account still-text">
        <span>{name}</span>
      </span>
    )
  }
  return (
    <Popup
      class="btn quiet account"
      label={t('nav.account', { name })}
      button={
        <>
          <span>{name}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) => <Accounts own={own} items={items} canFind={hasMore || isOperator.value} onChosen={close} />}
    </Popup>
  )
}

interface AccountsProps {
  readonly own: string
  readonly items: readonly FoundAccount[]
  /** Whether there are accounts that the list does not have. */
  readonly canFind: boolean
  readonly onChosen: () => void
}

/** The user stops typing. */
const TYPED_MS = 200

function Accounts({ own, items, canFind, onChosen }: AccountsProps) {
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
    <>
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
              aria-current={current === undefined}
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
              aria-current={id === current}
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
    </>
  )
}
