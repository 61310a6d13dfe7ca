import type { RequestRecord, ResponseRecord } from '../../http/message.js'
import type { SeededRandom } from '../random.js'
import type { Cluster, Running } from './cluster.js'
import { disruptionsBetween } from './disruptions.js'
import type { Findings } from './finding.js'
import type { Ledger } from './ledger.js'
import { paced } from './paced.js'
import type { RunQueue } from './run-queue.js'
import type { Secrets } from './secrets.js'
import type { Trace } from './trace.js'

export interface ClientDoors {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly findings: Findings
  readonly random: SeededRandom
  readonly cluster: Cluster
  /** API keys, by account. */
  readonly keys: ReadonlyMap<string, string>
  readonly secrets: Secrets
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  fired(what: string): void
}

/** Clients of the HTTP face: they log in and out, read lists, and try what they must not. */
export interface Clients {
  /** `haste`: how many times as often as in a run of an hour. */
  begin(untilMs: number, haste: number): void
}

/** A token and what its client did with it. */
interface Held {
  readonly token: string
  readonly account: string
  /** `maybe`: a logout whose end nobody heard. */
  state: 'live' | 'maybe' | 'dead'
  deadMs: number
  deadOn: string
  /** Wall clock at which its time is over, by the node that issued it: not before, and not after. */
  readonly expiresMs: readonly [from: number, to: number]
}

const GAP_MS = 24_000
/** After so long a client hangs up. */
const PATIENCE_MS = 60_000
/** So late a store may fail what it was asked when it was out. */
const LATE_MS = 30_000
/** Default of `tokenTtlSeconds`. */
const TOKEN_MS = 86_400_000
/** So many tokens are in use. */
const MOST_HELD = 100
/** So late a logout may show on another node. */
const RECHECK_MS = 2000
/** Names of the wire. */
const API_KEY = 'api_key'
const AUTH_TOKEN = 'auth_token'
const REQUEST_ID = 'request_id'
const JSON_TYPE = { 'content-type': 'application/json' }
/** Who may act on whom: accounts act on themselves and on those below. */
const REACH: Readonly<Record<string, readonly string[]>> = {
  root: ['root', 'branch'],
  branch: ['branch'],
  rival: ['rival'],
}

export function createClients(doors: ClientDoors): Clients {
  const { queue, trace, ledger, findings, random, cluster, keys, secrets, startMs, fired } = doors
  const held: Held[] = []
  let refusal: string | undefined

  /** One request; undefined where no answer came. */
  async function ask({ hs, life }: Running, request: RequestRecord): Promise<ResponseRecord | undefined> {
    const atMs = queue.now()
    const hangUp = queue.sleep(PATIENCE_MS).then(() => undefined)
    const answer = await Promise.race([hs.handle(request), hangUp])
    if (!answer) return undefined
    const { status } = answer
    trace.step(queue.now(), `${request.method} ${request.url}: ${status}`, life.name)
    fired(`http ${status}`)
    if (status >= 500 && !(status === 503 && isExcused(life.name, atMs))) {
      findings.add(
        'I25',
        atMs,
        `${life.name} answered ${status} to ${request.method} ${request.url}: ${answer.body}`,
        life.name,
      )
    }
    return answer
  }

  /** The store was out, or the node was closing. */
  function isExcused(name: string, fromMs: number): boolean {
    for (const { kind, node } of disruptionsBetween(ledger.disruptions, fromMs - LATE_MS, queue.now())) {
      if (kind.startsWith('store') || (kind === 'close' && node === name)) return true
    }
    return false
  }

  async function logIn(on: Running): Promise<void> {
    const account = random.pick([...keys.keys()])
    const body = JSON.stringify({ data: { [API_KEY]: keys.get(account) } })
    const { clock } = on.life
    const fromMs = clock.now() + TOKEN_MS
    const answer = await ask(on, { method: 'PUT', url: '/v2/api_auth', headers: JSON_TYPE, body })
    if (answer?.status === 201) {
      const token = (JSON.parse(answer.body) as Record<string, string>)[AUTH_TOKEN]!
      secrets.add(token)
      const expiresMs = [fromMs, clock.now() + TOKEN_MS].sort((a, b) => a - b) as [number, number]
      held.push({ token, account, state: 'live', deadMs: 0, deadOn: '', expiresMs })
      if (held.length > MOST_HELD) held.shift()
    } else if (answer && answer.status !== 503) {
      findings.add('I12', queue.now(), `a right API key was answered ${answer.status}`, on.life.name)
    }
  }

  /** Every wrong login gets the same answer, but for what names the request. */
  async function logInWrongly(on: Running): Promise<void> {
    const key = random.pick(['0'.repeat(64), 'x', '', `${[...keys.values()][0]}x`])
    const body = JSON.stringify({ data: { [API_KEY]: key } })
    const answer = await ask(on, { method: 'PUT', url: '/v2/api_auth', headers: JSON_TYPE, body })
    if (!answer || answer.status === 503) return
    const {
      [REQUEST_ID]: _i,
      timestamp: _t,
      node: _n,
      ...rest
    } = JSON.parse(answer.body) as Record<string, unknown>
    const text = `${answer.status} ${JSON.stringify(rest)}`
    refusal ??= text
    if (text !== refusal || answer.status !== 401) {
      findings.add('I25', queue.now(), `a wrong login was answered ${text}`, on.life.name)
    }
  }

  async function use(on: Running): Promise<void> {
    if (held.length === 0) return
    const one = random.pick(held)
    const account = random.pick([...keys.keys()])
    const askedMs = queue.now()
    const askedAtMs = on.life.clock.now()
    const { state } = one
    const url = `/v2/accounts/${account}/webhooks?paginate=false`
    const answer = await ask(on, { method: 'GET', url, headers: { 'x-auth-token': one.token } })
    if (!answer || answer.status === 503) return
    const isNow = one.state
    const name = `a token of ${one.account}`
    const seenMs = [askedAtMs, on.life.clock.now()]
    if (answer.status === 401) {
      // Its time is over by the clock of who is asked, or by that of the store, which removed it.
      const isOver = Math.max(...seenMs, startMs + queue.now()) >= one.expiresMs[0]
      if (isNow === 'live' && !isOver)
        findings.add(
          'I12',
          askedMs,
          `${name} was refused on ${on.life.name}, and nobody ended it`,
          on.life.name,
        )
      return
    }
    if (state === 'dead' && askedMs >= lastMoment(one, on)) {
      findings.add(
        'I12',
        askedMs,
        `${name} works on ${on.life.name}, ${askedMs - one.deadMs} ms after its logout on ${one.deadOn}`,
        on.life.name,
      )
    }
    if (Math.min(...seenMs) >= one.expiresMs[1]) {
      findings.add('I12', askedMs, `${name} works on ${on.life.name}, and its time is over`, on.life.name)
    }
    const mayReach = REACH[one.account]!.includes(account)
    if (mayReach !== (answer.status === 200)) {
      findings.add('I4', askedMs, `${name} was answered ${answer.status} for ${account}`, on.life.name)
    }
    if (answer.status === 200) judgeList(account, answer.body)
  }

  /** From when on a token that was ended may not work any more on a node. */
  function lastMoment(one: Held, { life }: Running): number {
    if (one.deadOn === life.name) return one.deadMs
    const stood = ledger.disruptions.filter(({ kind, node }) => kind === 'pause' && node === life.name)
    // A machine that was suspended has not lived through that time.
    return Math.max(one.deadMs, ...stood.map(({ untilMs }) => untilMs)) + RECHECK_MS + 10
  }

  function judgeList(account: string, body: string): void {
    const { data } = JSON.parse(body) as { data: { id: string }[] }
    for (const { id } of data) {
      const history = ledger.webhooks.get(id)
      if (history && history.accountId !== account) {
        findings.add('I4', queue.now(), `webhook ${id} of ${history.accountId} is shown to ${account}`, id)
      }
    }
  }

  async function logOut(on: Running): Promise<void> {
    const live = held.filter(({ state }) => state === 'live')
    if (live.length === 0) return
    const one = random.pick(live)
    one.state = 'maybe'
    const answer = await ask(on, {
      method: 'DELETE',
      url: '/v2/token_auth',
      headers: { 'x-auth-token': one.token },
    })
    if (answer?.status !== 200) return
    one.state = 'dead'
    one.deadMs = queue.now()
    one.deadOn = on.life.name
  }

  function step(): void {
    const up = cluster.up()
    if (up.length === 0) return
    const on = random.pick(up)
    const verb = random.weighted({ logIn: 2, logInWrongly: 1, use: 8, logOut: 1 })
    void { logIn, logInWrongly, use, logOut }[verb](on)
  }

  return {
    begin: (untilMs, haste) => paced(queue, random, { gapMs: GAP_MS / haste, untilMs }, step),
  }
}
