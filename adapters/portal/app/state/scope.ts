/** The account whose data is shown, and which of the service's features the user has. */
import { computed, effect, signal } from '@preact/signals'
import { optional, page, request } from '../api/api.js'
import type { OverviewDocument } from '../api/documents.js'
import { replaceRoute, route } from './router.js'
import { session } from './session.js'

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

let checkedToken: string | undefined

effect(() => {
  const current = session.value
  if (!current) {
    isOperator.value = false
    checkedToken = undefined
    return
  }
  if (current.token === checkedToken) return
  checkedToken = current.token
  void findOperator().then(
    (found) => {
      if (session.peek()?.token === current.token) isOperator.value = found
    },
    () => {
      // The service is unavailable: the screens say so.
    },
  )
})

async function findOperator(): Promise<boolean> {
  if (await optional(request<OverviewDocument>('GET', '/system/overview'))) return true
  return (await optional(page('/system/endpoints', { pageSize: 1 }))) !== undefined
}
