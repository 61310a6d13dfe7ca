import { RETRIES, RETRY_MS, type ServiceCall, SLOW_MS, TOKEN_TTL_SECONDS } from './service-calls.js'
import type { NaiveService, Sent } from './service-naive-state.js'

/** What the service has to answer. */
export function serviceAnswer(m: NaiveService, call: ServiceCall): unknown {
  const accountOf = (id: string) => m.accounts.find((one) => one.id === id)!
  switch (call.do) {
    case 'sign in': {
      const { enabled, ...account } = accountOf(call.account)
      if (!call.right) return 'InvalidCredentials'
      if (!enabled) return 'AccountLocked'
      const name = `token ${m.tokens.length + 1}`
      const untilMs = m.nowMs + TOKEN_TTL_SECONDS * 1_000
      m.tokens.push({ name, account: call.account, by: call.by, version: account[call.by], untilMs })
      return name
    }
    case 'use': {
      const token = m.tokens.find(({ name }) => name === call.token)!
      const { enabled, ...account } = accountOf(token.account)
      const isValid = enabled && account[token.by] === token.version && m.nowMs < token.untilMs
      return isValid ? `${token.account}, by ${token.by}` : 'InvalidCredentials'
    }
    case 'sign out':
      m.tokens.find(({ name }) => name === call.token)!.untilMs = 0
      return null
    case 'rotate the key':
      accountOf(call.account).key += 1
      return null
    case 'set the password':
      accountOf(call.account).password += 1
      return null
    case 'enable':
      accountOf(call.account).enabled = call.enabled
      return null
    case 'make': {
      const { hook, account, kind, below } = call
      const state = { enabled: true, gone: false, revision: 1, epoch: 1, manner: 'answers' as const }
      m.hooks.push({ id: hook, account, kind, below, name: hook, ...state })
      return 'revision 1'
    }
    case 'patch':
    case 'remove': {
      const hook = m.hooks.find(({ id }) => id === call.hook)!
      if (hook.gone) return 'NotFound'
      if (call.revision !== undefined && call.revision !== hook.revision) return 'RevisionConflict'
      const told = `revision ${hook.revision + (call.do === 'patch' ? 1 : 0)}`
      const before = hook.enabled
      hook.revision += 1
      if (call.do === 'patch') Object.assign(hook, call.change)
      else hook.gone = true
      if (hook.gone || (before && !hook.enabled)) hook.epoch += 1
      withdraw(m)
      return told
    }
    case 'list': {
      const live = m.hooks.filter(({ account, gone }) => account === call.account && !gone)
      const rows = live.sort((a, b) => (a.name < b.name ? -1 : 1))
      return rows.map(({ id, name, enabled, revision }) => ({ id, name, enabled, revision }))
    }
    case 'publish': {
      const { account, call: callId, kind, key, event } = call
      const body = `${callId} ${kind}`
      const first = m.keys.find((one) => one.account === account && one.key === key)
      if (first && first.body !== body) return 'Conflict'
      if (first) return { id: first.event, number: first.number, duplicate: true }
      const lane = `${account}/${callId}`
      const number = (m.numbers[lane] ?? 0) + 1
      m.numbers[lane] = number
      if (key !== undefined) m.keys.push({ account, key, body, event, number })
      for (const hook of m.hooks) {
        const isAbove = hook.account === accountOf(account).parent && hook.below
        const isFor = hook.account === account || isAbove
        const isOpen = hook.enabled && !hook.gone && accountOf(hook.account).enabled
        if (!isFor || !isOpen || (hook.kind !== 'all' && hook.kind !== kind)) continue
        const { id, epoch } = hook
        m.sent.push({ hook: id, lane, event, epoch, state: 'waiting', tries: 0, interruptions: 0 })
      }
      passTo(m, m.nowMs)
      return { id: event, number, duplicate: false }
    }
    case 'teach':
      m.hooks.find(({ id }) => id === call.hook)!.manner = call.manner
      return null
  }
}

const isPending = ({ state }: Sent) => state === 'waiting' || state === 'in_flight'

/** What waits for a webhook that was disabled or removed since is not sent any more. */
function withdraw(m: NaiveService): void {
  for (const one of m.sent) {
    const isOld = one.epoch < m.hooks.find(({ id }) => id === one.hook)!.epoch
    if (isOld && one.state === 'waiting') one.state = 'cancelled'
  }
  passTo(m, m.nowMs)
}

/** The process ended: what was in flight is sent again, but not for ever where it may be what ends processes. */
export function interrupt(m: NaiveService, isCrash: boolean): void {
  for (const one of m.sent) {
    if (one.state !== 'in_flight') continue
    if (isCrash) one.interruptions += 1
    one.state = one.interruptions >= 3 ? 'quarantined' : 'waiting'
    one.atMs = m.nowMs
  }
  withdraw(m)
}

/** Lets time pass, from one thing that happens to the next. */
export function passTo(m: NaiveService, endMs: number): void {
  for (;;) {
    const isHead = (one: Sent) =>
      one === m.sent.find((other) => isPending(other) && other.hook === one.hook && other.lane === one.lane)
    const heads = m.sent.filter(isHead)
    for (const head of heads) head.atMs ??= m.nowMs
    const next = heads.sort((a, b) => a.atMs! - b.atMs!)[0]
    if (!next || next.atMs! > endMs) break
    m.nowMs = Math.max(m.nowMs, next.atMs!)
    happen(m, next)
  }
  m.nowMs = endMs
}

function happen(m: NaiveService, one: Sent): void {
  const { manner } = m.hooks.find(({ id }) => id === one.hook)!
  if (one.state === 'in_flight') {
    one.state = 'delivered'
    return
  }
  const place = `${one.hook} ${one.lane}`
  m.received[place] = [...(m.received[place] ?? []), `${one.event} at ${m.nowMs}`]
  if (manner === 'answers') one.state = 'delivered'
  else if (manner === 'is slow') Object.assign(one, { state: 'in_flight', atMs: m.nowMs + SLOW_MS })
  else {
    one.tries += 1
    one.interruptions = 0
    if (one.tries > RETRIES) one.state = 'exhausted'
    one.atMs = m.nowMs + RETRY_MS
  }
}
