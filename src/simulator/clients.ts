/** HTTP API clients: they log in and out, list webhooks, and try what they must not do. Checks I4, I12 and I25. */

import type { RequestRecord, ResponseRecord } from '../http/message.js'
import type { RunningNode } from './cluster.js'
import { disruptionsBetween } from './disruptions.js'
import type { Secrets } from './secrets.js'
import type { ViolationLog } from './violation.js'
import { repeatedly, type Workload, type WorkloadDeps } from './workload.js'

interface ClientDeps extends WorkloadDeps {
  readonly violations: ViolationLog
  /** API keys by account. */
  readonly keys: ReadonlyMap<string, string>
  readonly secrets: Secrets
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  /** Nodes that share a store go by its clock. */
  readonly store: { readonly supports: { readonly sharedBetweenNodes: boolean } }
  cover(name: string): void
}

/** A token and what its client did with it. */
interface ClientToken {
  readonly token: string
  readonly account: string
  /** `unknown`: a logout without a response. */
  state: 'live' | 'unknown' | 'revoked'
  revokedMs: number
  revokedOn: string
  /** Earliest and latest time of day at which it can expire, by the clock that the node that issued it goes by. */
  readonly expiresMs: readonly [from: number, to: number]
}

const GAP_MS = 24_000
/** A client gives up after this time. */
const TIMEOUT_MS = 60_000
/** How long after an outage the store may still fail requests that were made during it. */
const OUTAGE_AFTERMATH_MS = 30_000
/** Default of `tokenTtlSeconds`. */
const TOKEN_MS = 86_400_000
const MAX_TOKENS = 100
/** How much clocks differ between two renewals of a lease, and by rounding, ms. */
const DRIFT_MS = 100
/** How long another node may accept a revoked token: the token cache is revalidated. */
const REVALIDATION_MS = 2000
/** Field names of the HTTP API. */
const API_KEY = 'api_key'
const AUTH_TOKEN = 'auth_token'
const REQUEST_ID = 'request_id'
const JSON_TYPE = { 'content-type': 'application/json' }
/** The accounts that each account may access: itself and those below it. */
const REACH: Readonly<Record<string, readonly string[]>> = {
  root: ['root', 'branch'],
  branch: ['branch'],
  rival: ['rival'],
}

export function createClients(deps: ClientDeps): Workload {
  const { queue, trace, history, violations, random, keys, secrets, startMs, store, cover } = deps
  const tokens: ClientToken[] = []
  let loginError: string | undefined

  /** The time of day by which a node goes. It is late by the time for which its machine was suspended, at most. */
  function timesOf({ life }: RunningNode): readonly [from: number, to: number] {
    if (!store.supports.sharedBetweenNodes) return [life.clock.now(), life.clock.now()]
    const nowMs = startMs + queue.now()
    const pausedMs = history.disruptions.reduce((sum, { kind, node, atMs, untilMs }) => {
      return kind === 'pause' && node === life.name ? sum + Math.min(untilMs, queue.now()) - atMs : sum
    }, 0)
    return [nowMs - pausedMs - DRIFT_MS, nowMs + DRIFT_MS]
  }

  /** Sends one request; resolves to undefined when the client gave up waiting. */
  async function send(
    { hs, life }: RunningNode,
    request: RequestRecord,
  ): Promise<ResponseRecord | undefined> {
    const atMs = queue.now()
    const timeout = queue.sleep(TIMEOUT_MS).then(() => undefined)
    const response = await Promise.race([hs.handle(request), timeout])
    if (!response) return undefined
    const { status } = response
    trace.step(queue.now(), `${request.method} ${request.url}: ${status}`, life.name)
    cover(`http ${status}`)
    if (status >= 500 && !(status === 503 && isExcused(life.name, atMs))) {
      const message = `${life.name} answered ${status} to ${request.method} ${request.url}: ${response.body}`
      violations.add('I25', atMs, message, life.name)
    }
    return response
  }

  /** Whether a store fault was active, or the node was closing. */
  function isExcused(name: string, fromMs: number): boolean {
    const sinceMs = fromMs - OUTAGE_AFTERMATH_MS
    for (const { kind, node } of disruptionsBetween(history.disruptions, sinceMs, queue.now())) {
      if (kind.startsWith('store') || (kind === 'close' && node === name)) return true
    }
    return false
  }

  async function logIn(node: RunningNode): Promise<void> {
    const account = random.pick([...keys.keys()])
    const body = JSON.stringify({ data: { [API_KEY]: keys.get(account) } })
    const [fromMs] = timesOf(node)
    const response = await send(node, { method: 'PUT', url: '/v2/api_auth', headers: JSON_TYPE, body })
    if (response?.status === 201) {
      const token = (JSON.parse(response.body) as Record<string, string>)[AUTH_TOKEN]!
      secrets.add(token)
      const times = [fromMs, ...timesOf(node)]
      const expiresMs = [Math.min(...times) + TOKEN_MS, Math.max(...times) + TOKEN_MS] as const
      tokens.push({ token, account, state: 'live', revokedMs: 0, revokedOn: '', expiresMs })
      if (tokens.length > MAX_TOKENS) tokens.shift()
    } else if (response && response.status !== 503) {
      violations.add('I12', queue.now(), `a valid API key was answered ${response.status}`, node.life.name)
    }
  }

  /** Every failed login gets the same response, apart from the fields that identify the request. */
  async function logInWrongly(node: RunningNode): Promise<void> {
    const key = random.pick(['0'.repeat(64), 'x', '', `${[...keys.values()][0]}x`])
    const body = JSON.stringify({ data: { [API_KEY]: key } })
    const response = await send(node, { method: 'PUT', url: '/v2/api_auth', headers: JSON_TYPE, body })
    if (!response || response.status === 503) return
    const {
      [REQUEST_ID]: _i,
      timestamp: _t,
      node: _n,
      ...rest
    } = JSON.parse(response.body) as Record<string, unknown>
    const text = `${response.status} ${JSON.stringify(rest)}`
    loginError ??= text
    if (text !== loginError || response.status !== 401) {
      violations.add('I25', queue.now(), `a wrong login was answered ${text}`, node.life.name)
    }
  }

  async function use(node: RunningNode): Promise<void> {
    if (tokens.length === 0) return
    const used = random.pick(tokens)
    const account = random.pick([...keys.keys()])
    const sentMs = queue.now()
    const sentTimes = timesOf(node)
    const stateBefore = used.state
    const url = `/v2/accounts/${account}/webhooks?paginate=false`
    const response = await send(node, { method: 'GET', url, headers: { 'x-auth-token': used.token } })
    if (!response || response.status === 503) return
    const stateAfter = used.state
    const name = `a token of ${used.account}`
    const nodeTimes = [...sentTimes, ...timesOf(node)]
    if (response.status === 401) {
      // Expired by the clock of the node, or by that of the store, which removes expired tokens.
      const isExpired = Math.max(...nodeTimes, startMs + queue.now()) >= used.expiresMs[0]
      const message = `${name} was rejected by ${node.life.name} although it is neither revoked nor expired`
      if (stateAfter === 'live' && !isExpired) violations.add('I12', sentMs, message, node.life.name)
      return
    }
    if (stateBefore === 'revoked' && sentMs >= revokedEverywhereMs(used, node)) {
      const message = `${name} works on ${node.life.name}, ${sentMs - used.revokedMs} ms after its logout on ${used.revokedOn}`
      violations.add('I12', sentMs, message, node.life.name)
    }
    if (Math.min(...nodeTimes) >= used.expiresMs[1]) {
      const message = `${name} works on ${node.life.name} although it has expired`
      violations.add('I12', sentMs, message, node.life.name)
    }
    const mayReach = REACH[used.account]!.includes(account)
    if (mayReach !== (response.status === 200)) {
      violations.add('I4', sentMs, `${name} was answered ${response.status} for ${account}`, node.life.name)
    }
    if (response.status === 200) checkList(account, response.body)
  }

  /** From this moment on a node must reject a revoked token. */
  function revokedEverywhereMs(used: ClientToken, { life }: RunningNode): number {
    if (used.revokedOn === life.name) return used.revokedMs
    const pauses = history.disruptions.filter(({ kind, node }) => kind === 'pause' && node === life.name)
    // A suspended machine has not experienced that time.
    return Math.max(used.revokedMs, ...pauses.map(({ untilMs }) => untilMs)) + REVALIDATION_MS + 10
  }

  function checkList(account: string, body: string): void {
    const { data } = JSON.parse(body) as { data: { id: string }[] }
    for (const { id } of data) {
      const webhook = history.webhooks.get(id)
      if (webhook && webhook.accountId !== account) {
        violations.add('I4', queue.now(), `webhook ${id} of ${webhook.accountId} is shown to ${account}`, id)
      }
    }
  }

  async function logOut(node: RunningNode): Promise<void> {
    const live = tokens.filter(({ state }) => state === 'live')
    if (live.length === 0) return
    const used = random.pick(live)
    used.state = 'unknown'
    const response = await send(node, {
      method: 'DELETE',
      url: '/v2/token_auth',
      headers: { 'x-auth-token': used.token },
    })
    if (response?.status !== 200) return
    used.state = 'revoked'
    used.revokedMs = queue.now()
    used.revokedOn = node.life.name
  }

  function step(up: readonly RunningNode[]): void {
    const node = random.pick(up)
    const action = random.weighted({ logIn: 2, logInWrongly: 1, use: 8, logOut: 1 })
    void { logIn, logInWrongly, use, logOut }[action](node)
  }

  return repeatedly(deps, GAP_MS, step)
}
