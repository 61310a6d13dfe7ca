/** The account whose data is shown, and which of the service's features the user has. */
import { computed, effect, signal } from '@preact/signals'
import type { Token } from 'hookswitch/client'
import { accountPage, optional, request, statusOf } from '../api/api.js'
import { notify } from './announce.js'
import { replaceRoute, route } from './router.js'
import { session } from './session.js'
import { t } from './translate.js'

/** The account of the address, otherwise that of the session. */
export const accountId = computed(() => route.value.accountId ?? session.value?.accountId ?? '')

// The address names its account, so that it can be passed on.
effect(() => {
  const { screen, accountId: named, query } = route.value
  const own = session.value?.accountId
  if (screen === 'webhooks' && named === undefined && own !== undefined) {
    replaceRoute({ screen, accountId: own, query })
  }
})

/** Whether the user is an operator of the service. */
export const isOperator = signal(false)
/** Whether the user may read but not change. */
export const isReadOnly = signal(false)

let checkedToken: string | undefined

effect(() => {
  const current = session.value
  if (current?.token === checkedToken) return
  checkedToken = current?.token
  isOperator.value = false
  isReadOnly.value = false
  if (!current) return
  const isCurrent = () => session.peek()?.token === current.token
  readRights().then(
    (rights) => {
      if (!isCurrent()) return
      isOperator.value = rights?.is_operator ?? false
      isReadOnly.value = rights?.is_read_only ?? false
    },
    () => {
      // The service is unavailable: the screens say so.
    },
  )
  void mayShow(route.peek().accountId, current.accountId).then((isAllowed) => {
    if (isAllowed || !isCurrent()) return
    // The address is that of another user, who signed out.
    replaceRoute({ screen: 'webhooks', accountId: current.accountId })
    notify(t('error.forbidden'), true)
  })
})

const readRights = () => optional(request<Token>('GET', '/token_auth'))

/** Whether the session may see the account of the address. */
async function mayShow(named: string | undefined, own: string): Promise<boolean> {
  if (named === undefined || named === own) return true
  try {
    await accountPage('/webhooks', { accountId: named, pageSize: 1 })
    return true
  } catch (thrown) {
    return statusOf(thrown) !== 403
  }
}
