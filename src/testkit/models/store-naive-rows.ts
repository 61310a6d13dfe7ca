import type { StoreCall } from './store-calls.js'
import { isPending, type NaiveStore, promote } from './store-naive-state.js'

/** What a naive store answers beside its queue: webhooks, records, what is removed, tokens, accounts. */
export function naiveRows(m: NaiveStore, call: StoreCall): unknown {
  const { now } = call
  const hookOf = (id: string) => m.hooks.find((hook) => hook.id === id)
  switch (call.do) {
    case 'insert':
      if (hookOf(call.hook.id)) return 'Conflict'
      m.hooks.push(call.hook)
      return null
    case 'read': {
      const hook = hookOf(call.id)
      return call.accountId !== 'account' || !hook || hook.deleted ? null : hook
    }
    case 'list': {
      const live = m.hooks.filter(({ deleted }) => !deleted)
      return live.sort((a, b) => (`${a.name} ${a.id}` < `${b.name} ${b.id}` ? -1 : 1)).map(({ id }) => id)
    }
    case 'attempts': {
      const { webhookId, callId } = call
      const found = m.records.filter(
        (one) =>
          (webhookId === undefined || one.webhookId === webhookId) &&
          (callId === undefined || one.callId === callId),
      )
      return (call.ascending ? found : found.reverse()).map(({ id }) => id)
    }
    case 'page': {
      const from = call.last ? m.recorded.indexOf(call.last) : -1
      const behind = m.records.map(({ id }) => id).filter((id) => m.recorded.indexOf(id) > from)
      return behind.slice(0, call.size)
    }
    case 'prune': {
      const newest = m.hooks.flatMap(({ id }) =>
        m.records.filter(({ webhookId }) => webhookId === id).slice(-call.keep),
      )
      m.records = m.records.filter((one) => newest.includes(one) && one.atMs >= call.beforeMs)
      m.rows = m.rows.filter((row) => isPending(row) || row.endedMs! >= call.beforeMs)
      return null
    }
    case 'erase':
      m.rows = m.rows.filter(({ callId }) => callId !== call.callId)
      m.records = m.records.filter(({ callId }) => callId !== call.callId)
      m.keys = m.keys.filter(({ callId }) => callId !== call.callId)
      delete m.numbers[call.callId]
      promote(m, now)
      return null
    case 'issue':
      m.tokens.push(call.token)
      return null
    case 'read token':
      return m.tokens.find(({ hash }) => hash === call.hash) ?? null
    case 'revoke':
      return removed(m, ({ hash }) => hash === call.hash) > 0
    case 'revoke all':
      return removed(
        m,
        ({ accountId, userId = null }) =>
          accountId === call.accountId && (call.holder === undefined || userId === call.holder),
      )
    case 'prune tokens':
      return removed(m, ({ expiresMs }) => expiresMs <= now)
    default:
      return naiveAccounts(m, call)
  }
}

function removed(m: NaiveStore, isMeant: (token: NaiveStore['tokens'][number]) => boolean): number {
  const count = m.tokens.length
  m.tokens = m.tokens.filter((token) => !isMeant(token))
  return count - m.tokens.length
}

function naiveAccounts(m: NaiveStore, call: StoreCall): unknown {
  const accountOf = (id: string | undefined) => m.accounts.find((one) => one.id === id)
  switch (call.do) {
    case 'add account': {
      const { account } = call
      if (accountOf(account.id) || m.removed.includes(account.id)) return 'Conflict of the id'
      if (m.accounts.some(({ realm }) => realm === account.realm)) return 'Conflict of the realm'
      m.accounts.push({ ...account, users: [] })
      return null
    }
    case 'move account': {
      const known = accountOf(call.account.id)
      if (!known) return 'NotFound'
      if (m.accounts.some((one) => one !== known && one.realm === call.account.realm))
        return 'Conflict of the realm'
      m.accounts[m.accounts.indexOf(known)] = { ...call.account, users: known.users }
      return null
    }
    case 'remove account':
      if (!accountOf(call.id)) return 'NotFound'
      if (m.accounts.some(({ parentId }) => parentId === call.id)) return 'Conflict'
      m.accounts = m.accounts.filter(({ id }) => id !== call.id)
      m.removed.push(call.id)
      return null
    case 'find account': {
      const account = accountOf(call.id)
      if (!account) return null
      const users = account.users.map(({ username }) => username).sort()
      return { id: account.id, realm: account.realm, parent: accountOf(account.parentId)?.id, users }
    }
    case 'put user': {
      const account = accountOf(call.accountId)
      if (!account) return 'NotFound'
      const others = account.users.filter(({ id }) => id !== call.id)
      if (others.some(({ username }) => username === call.username)) return 'Conflict of the username'
      account.users = [...others, { id: call.id, username: call.username }]
      return null
    }
    case 'remove user': {
      const account = accountOf(call.accountId)
      const known = account?.users.some(({ id }) => id === call.id) === true
      if (account) account.users = account.users.filter(({ id }) => id !== call.id)
      return known
    }
    default:
      throw new Error(`the naive store was not told what '${call.do}' is`)
  }
}
