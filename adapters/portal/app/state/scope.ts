/** The account whose data is shown, and which of the service's features the user has. */
import { computed, effect, signal } from '@preact/signals'
import type { Token } from 'hookswitch/client'
import { accountPage, accountRequest, optional, request, statusOf } from '../api/api.js'
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
/** What the user may do; `undefined` until the service has said it: what changes something is not shown before. */
const rights = signal<'read' | 'change' | undefined>(undefined)
/** Whether the user may change something. */
export const canChange = computed(() => rights.value === 'change')
/** Whether the user may read but not change. */
export const isReadOnly = computed(() => rights.value === 'read')
/** Name of the session's account, as soon as it is known. */
export const ownAccountName = signal<string | undefined>(undefined)
/** Name of the user; `undefined` for an API key. */
export const userName = signal<string | undefined>(undefined)

/** Names of other accounts by id. */
const names = signal<Readonly<Record<string, string>>>({})

/** Name of the account whose data is shown; empty until it is known. */
export const accountName = computed(() => {
  const id = accountId.value
  return (id === session.value?.accountId ? ownAccountName.value : names.value[id]) ?? ''
})

effect(() => {
  const id = accountId.value
  const current = session.value
  if (!current || id === current.accountId || id in names.value) return
  // What may not be seen keeps its id as the name; the screens say why.
  const add = (name: string) => {
    names.value = { ...names.peek(), [id]: name }
  }
  accountRequest<{ readonly name: string }>('GET', '', { accountId: id }).then(
    ({ name }) => add(name),
    () => add(id),
  )
})

let checkedToken: string | undefined

effect(() => {
  const current = session.value
  if (current?.token === checkedToken) return
  checkedToken = current?.token
  isOperator.value = false
  rights.value = undefined
  userName.value = undefined
  ownAccountName.value = undefined
  // The names of the user before; that of the account on the screen is read again.
  if (Object.keys(names.peek()).length > 0) names.value = {}
  if (!current) return
  const isCurrent = () => session.peek()?.token === current.token
  readRights().then(
    (found) => {
      if (!isCurrent()) return
      isOperator.value = found?.is_operator ?? false
      rights.value = found?.is_read_only ? 'read' : 'change'
      ownAccountName.value = found?.account_name
      if (found?.owner_id === undefined) return
      void readUserName(current.accountId, found.owner_id).then((name) => {
        if (isCurrent()) userName.value = name
      })
    },
    () => {
      // The service is unavailable: the screens say so, and it refuses what the user may not change.
      if (isCurrent()) rights.value = 'change'
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

interface User {
  readonly first_name?: string
  readonly last_name?: string
  readonly username?: string
}

async function readUserName(account: string, userId: string): Promise<string | undefined> {
  try {
    const user = await accountRequest<User>('GET', '/users/{user_id}', { accountId: account, userId })
    // A hyphen stands for a name that the user does not have.
    const parts = [user.first_name, user.last_name].filter((part) => part !== undefined && part !== '-')
    return parts.join(' ') || user.username
  } catch {
    return undefined
  }
}

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
