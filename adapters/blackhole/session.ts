/**
 * One socket: its token and its bindings.
 *
 * Theory of operation
 *
 * - Requests are handled one after the other. Each is authenticated, by its own token or by the one of an earlier request.
 * - Each account has the token of its latest subscription, which is checked before events are sent (`outbox`). So a token that
 *   ends, or an account that moves, stops events at once on this node. An idle socket is checked every 30 s.
 */
import { type Clock, errorCode, type Hookswitch } from 'hookswitch'
import { type TokenBucket, takeTokens } from 'hookswitch/adapter'
import { type Binding, matchesBinding } from './bindings.js'
import type { CallEvent } from './call-event.js'
import {
  type ClientRequest,
  errorFrame,
  eventFrame,
  type Failures,
  failed,
  parseRequest,
  readSelection,
  refusals,
  successFrame,
} from './frames.js'
import type { BlackholeSettings } from './options.js'
import { Outbox, type Sink } from './outbox.js'

/** The part of a WebSocket that a session uses. */
interface SessionSocket extends Sink {
  /** Begins to close, and cuts the connection if the client does not respond. */
  close(code: number, reason: string): void
}

interface SessionDeps {
  readonly auth: Pick<Hookswitch['auth'], 'authenticate' | 'authorize'>
  readonly clock: Clock
  readonly settings: Pick<BlackholeSettings, 'maxBindings' | 'maxBufferedBytes' | 'idleMs'>
  readonly socket: SessionSocket
  /** Address of the client, for its own error messages. */
  readonly address: string
  newRequestId(): string
  /** The session has its first binding to events of an account, or no longer any. */
  onAccount(accountId: string, isBound: boolean): void
  /** The socket is being closed by the service. */
  onEnd(code: number, reason: string): void
}

/** Why the service closes a socket: code and reason of the close frame (RFC 6455, section 7.4; IANA for 1013). */
export const CLOSE = {
  idle: [1000, 'idle'],
  closing: [1001, 'going away'],
  token: [1008, 'failed to authenticate token'],
  slow: [1013, 'too slow'],
} as const

/** KAZOO's rate limit of one socket: requests at once, and per second in the long run. */
const REQUEST_LIMIT = { burst: 100, refillPerSecond: 10 }
/** Requests that wait for the ones before them; the store may be slow. */
const MAX_PENDING_REQUESTS = 100
/** Time between two checks of a token of which no event needs one, ms. */
const RECHECK_MS = 30_000

interface Subscription {
  /** The token that authorizes it. */
  token: string
  readonly bindings: Map<string, Binding>
}

type Reply = { readonly data: object } | Failures

export class Session {
  private readonly deps: SessionDeps
  private token: string | undefined = undefined
  private readonly subscriptions = new Map<string, Subscription>()
  private requests: Promise<void> = Promise.resolve()
  private pendingRequests = 0
  private bucket: TokenBucket | undefined = undefined
  private isEnded = false
  private lastReceivedMs: number
  private nextCheckMs: number
  private readonly outbox: Outbox

  constructor(deps: SessionDeps) {
    this.deps = deps
    this.lastReceivedMs = deps.clock.monotonic()
    this.nextCheckMs = this.lastReceivedMs + RECHECK_MS
    this.outbox = new Outbox({
      clock: deps.clock,
      sink: deps.socket,
      maxBytes: deps.settings.maxBufferedBytes,
      checkAccount: (accountId) => this.checkAccount(accountId),
      isBound: (accountId, key) => this.subscriptions.get(accountId)?.bindings.has(key) === true,
      onSlow: () => this.end('slow'),
    })
  }

  /** The client sent a frame of any kind. */
  touch(): void {
    this.lastReceivedMs = this.deps.clock.monotonic()
  }

  /** @param text a text frame; `undefined`: a binary one */
  receive(text: string | undefined): void {
    if (this.isEnded) return
    this.touch()
    const { isGranted, bucket } = takeTokens(this.bucket, 1, this.lastReceivedMs, REQUEST_LIMIT)
    this.bucket = bucket
    if (!isGranted || this.pendingRequests >= MAX_PENDING_REQUESTS) {
      this.outbox.send(
        errorFrame(this.deps.newRequestId(), [`rate limiting threshold hit for ${this.deps.address}!`]),
      )
      return
    }
    this.pendingRequests += 1
    this.requests = this.requests
      .then(() => this.handle(text))
      .finally(() => {
        this.pendingRequests -= 1
      })
  }

  /** Queues an event of an account to which the session has bindings. Never waits. */
  deliver(event: CallEvent): void {
    const { accountId } = event
    const subscription = this.subscriptions.get(accountId)
    if (this.isEnded || !subscription) return
    for (const binding of subscription.bindings.values()) {
      if (!matchesBinding(binding, event)) continue
      this.outbox.queueEvent({ accountId, key: binding.key, frame: eventFrame(binding, event) })
    }
  }

  /** Ends an idle or stalled socket, and one whose token has ended. To be called every few seconds. */
  tick(): void {
    if (this.isEnded) return
    const nowMs = this.deps.clock.monotonic()
    if (nowMs - this.lastReceivedMs >= this.deps.settings.idleMs) this.end('idle')
    else if (this.outbox.isStalled(nowMs)) this.end('slow')
    else if (nowMs >= this.nextCheckMs) {
      this.nextCheckMs = nowMs + RECHECK_MS
      void this.recheck()
    }
  }

  /** Closes the socket, unless it is being closed already. */
  end(reason: keyof typeof CLOSE): void {
    if (this.isEnded) return
    this.closed()
    const [code, text] = CLOSE[reason]
    this.deps.onEnd(code, text)
    this.deps.socket.close(code, text)
  }

  /** The socket is closed: forgets everything. */
  closed(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.outbox.close()
    for (const accountId of this.subscriptions.keys()) this.deps.onAccount(accountId, false)
    this.subscriptions.clear()
    this.token = undefined
  }

  /** Ends the socket if no token of it may read an account that it is bound to. */
  private async checkAccount(accountId: string): Promise<void> {
    const subscription = this.subscriptions.get(accountId)
    if (!subscription || (await this.mayRead(subscription.token, accountId))) return
    const { token } = this
    if (token !== undefined && token !== subscription.token && (await this.mayRead(token, accountId))) {
      subscription.token = token
      return
    }
    this.end('token')
  }

  /** True also where the store is out: nothing says that the token has ended. */
  private async mayRead(token: string, accountId: string): Promise<boolean> {
    try {
      await this.deps.auth.authorize(token, accountId)
      return true
    } catch (thrown) {
      return !isRefusal(thrown)
    }
  }

  private async recheck(): Promise<void> {
    for (const accountId of [...this.subscriptions.keys()]) await this.checkAccount(accountId)
    const { token } = this
    if (token === undefined || this.subscriptions.size > 0) return
    await this.deps.auth.authenticate(token).catch((thrown: unknown) => {
      if (isRefusal(thrown) && token === this.token) this.end('token')
    })
  }

  private async handle(text: string | undefined): Promise<void> {
    if (this.isEnded) return
    const request =
      text === undefined
        ? { requestId: undefined, problem: 'binary frames are not supported' }
        : parseRequest(text)
    const requestId = request.requestId ?? this.deps.newRequestId()
    const fail = (errors: readonly string[]) => this.outbox.send(errorFrame(requestId, errors))
    if ('problem' in request) return fail([request.problem])
    const problem = await this.authenticate(request)
    if (problem !== undefined) {
      fail([problem])
      // Its token has ended. Clients connect again, and log in when their next request fails.
      if (problem === CLOSE.token[1] && this.isOwnToken(request)) this.end('token')
      return
    }
    const result = await this.act(request)
    if ('errors' in result) fail(result.errors)
    else this.outbox.send(successFrame(requestId, result.data))
  }

  private isOwnToken({ token }: ClientRequest): boolean {
    return this.token !== undefined && (token === undefined || token === this.token)
  }

  /** Returns why the request is not authenticated; `undefined`: it is. */
  private async authenticate({ token = this.token }: ClientRequest): Promise<string | undefined> {
    if (token === undefined) return 'authentication token required'
    if (typeof token !== 'string') return CLOSE.token[1]
    try {
      await this.deps.auth.authenticate(token)
      if (!this.isEnded) this.token = token
      return undefined
    } catch (thrown) {
      return isRefusal(thrown) ? CLOSE.token[1] : UNAVAILABLE
    }
  }

  private async act({ action, data }: ClientRequest): Promise<Reply> {
    switch (action) {
      case 'ping':
        return { data: { response: 'pong' } }
      case 'subscribe':
        return this.subscribe(data)
      case 'unsubscribe':
        return this.unsubscribe(data)
      default:
        return failed('unknown action')
    }
  }

  private async subscribe(data: ClientRequest['data']): Promise<Reply> {
    const selection = readSelection(data, false)
    if ('errors' in selection) return selection
    const { token } = this
    const accountId = selection.accountId!
    if (accountId === '*') return failed('unauthorized wildcard account id')
    try {
      await this.deps.auth.authorize(token!, accountId)
    } catch (thrown) {
      return failed(isRefusal(thrown) ? 'unauthorized account id' : UNAVAILABLE)
    }
    if (this.isEnded) return failed()
    const existing = this.subscriptions.get(accountId)
    const added = selection.bindings.filter(({ key }) => !existing?.bindings.has(key))
    const { maxBindings } = this.deps.settings
    if (this.bindingCount + added.length > maxBindings)
      return failed(`too many bindings : at most ${maxBindings} (maxBindings)`)
    const subscription = existing ?? { token: token!, bindings: new Map<string, Binding>() }
    subscription.token = token!
    for (const binding of added) subscription.bindings.set(binding.key, binding)
    if (!existing) {
      this.subscriptions.set(accountId, subscription)
      this.deps.onAccount(accountId, true)
    }
    return { data: { subscribed: this.keys, ...refusals(selection) } }
  }

  private unsubscribe(data: ClientRequest['data']): Reply {
    if (Object.keys(data ?? {}).length === 0) {
      const { keys } = this
      for (const accountId of [...this.subscriptions.keys()]) this.unbind(accountId, keys)
      return { data: { unsubscribed: keys, subscribed: [] } }
    }
    const selection = readSelection(data, true)
    if ('errors' in selection) return selection
    const keys = selection.bindings.map(({ key }) => key)
    const { accountId } = selection
    for (const id of accountId === undefined ? [...this.subscriptions.keys()] : [accountId])
      this.unbind(id, keys)
    return { data: { unsubscribed: keys, subscribed: this.keys, ...refusals(selection) } }
  }

  private unbind(accountId: string, keys: readonly string[]): void {
    const subscription = this.subscriptions.get(accountId)
    if (!subscription) return
    for (const key of keys) subscription.bindings.delete(key)
    if (subscription.bindings.size > 0) return
    this.subscriptions.delete(accountId)
    this.deps.onAccount(accountId, false)
  }

  private get bindingCount(): number {
    let count = 0
    for (const { bindings } of this.subscriptions.values()) count += bindings.size
    return count
  }

  /** All bindings as the client wrote them. */
  private get keys(): readonly string[] {
    return [...new Set([...this.subscriptions.values()].flatMap(({ bindings }) => [...bindings.keys()]))]
  }
}

const UNAVAILABLE = 'service unavailable'

const isRefusal = (thrown: unknown): boolean => {
  const code = errorCode(thrown)
  return code === 'InvalidCredentials' || code === 'Forbidden'
}
