/** The account whose data is shown, and the other accounts of the user: those below it, for operators all. */
import { accountList } from '../api/accounts.js'
import { useResource } from '../state/resource.js'
import { route } from '../state/router.js'
import { accountId, accountName, isOperator } from '../state/scope.js'
import { session } from '../state/session.js'
import { t } from '../state/translate.js'
import { Icon } from './icon.js'
import { lazy } from './lazy.js'
import { Popup } from './popup.js'

const Accounts = lazy(
  async () => (await import('./account-list.js')).Accounts,
  () => null,
)

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
