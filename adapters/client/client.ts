/** `createClient`: the operations of the HTTP API over fetch, with login, renewal, retries and limits. */
import {
  type ApiResponse,
  CALL_OPTIONS,
  type CallOptions,
  type CallParameters,
  type Endpoint,
} from './call.js'
import { hashCredentials, type UserLogin } from './credentials.js'
import { type ClientClock, type Deadline, SYSTEM_CLOCK, startDeadline } from './deadline.js'
import { checkNames, HookswitchClientError, invalidOption } from './error.js'
import { createList, type List } from './list.js'
import { ENDPOINTS, type Operations } from './operations.generated.js'
import {
  ACCOUNT_PARAMETER,
  ACCOUNT_PLACEHOLDER,
  type PreparedRequest,
  prepareRequest,
  segment,
} from './request.js'
import { type Envelope, readResponse } from './response.js'
import { isRepeatable, retryDelay } from './retry.js'
import { type Session, sessionKeeper } from './session.js'
import {
  readStream,
  STREAM_OPTIONS,
  STREAM_PARAMETERS,
  type StreamConnection,
  type StreamItem,
  type StreamOptions,
  type StreamParameters,
} from './stream.js'

/** Options of `createClient`. At most one of `apiKey`, `user` and `token`. */
export interface ClientOptions {
  /**
   * URL of the service, with the prefix under which it is mounted: `https://hooks.example.com`. `/v1` is appended unless it
   * ends with `/v1` or `/v2`. In a browser it may be relative to the page.
   */
  readonly url: string | URL
  /** API key of the account, or a function that returns it for each login. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined
  /** User name and password. */
  readonly user?: UserLogin | undefined
  /** A token from elsewhere, or a function that returns one: it is called again after a 401. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Account of calls without `accountId`. Default: the account of the login; with `token` there is no default. */
  readonly accountId?: string | undefined
  /** Timeout of a call in milliseconds. Default is 30,000. */
  readonly timeoutMs?: number | undefined
  /** Maximum number of retries of a call. Default is 2. */
  readonly maxRetries?: number | undefined
  /** Lifetime of a token in milliseconds: `tokenTtlSeconds` of the service. Default is one day. */
  readonly tokenLifetimeMs?: number | undefined
  /** Maximum size of a response in bytes. Default is 67,108,864 (64 MiB). */
  readonly maxResponseBytes?: number | undefined
  /** Aborts every call of the client, but not `close`. */
  readonly signal?: AbortSignal | undefined
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** For tests. Default: the machine's clock. */
  readonly clock?: ClientClock | undefined
}

/** A client of one service and one login. Every operation of the HTTP API is a method. */
export interface HookswitchClient extends Operations {
  /**
   * Requests any endpoint of the API, for routes that this version of the client does not have.
   *
   * @example
   * await client.request({ method: 'GET', path: '/accounts/{account_id}/users/{user_id}' }, { userId: 'b7' })
   */
  request<Data = unknown>(
    endpoint: Endpoint,
    parameters?: CallParameters,
    options?: CallOptions,
  ): Promise<ApiResponse<Data>>
  /** Reads any list of the API. `parameters` may have those of every list. */
  list<Item = unknown>(path: string, parameters?: CallParameters, options?: CallOptions): List<Item>
  /**
   * Follows attempts, changes of webhooks and, on request, events as they happen. Connects when the first item is read, and
   * again whenever the connection is lost; ends with the loop or `signal`. A stream that cannot be had, such as one of an
   * account without access, rejects.
   *
   * @example
   * for await (const item of client.stream({ types: ['attempt'], result: 'failure' })) console.log(item.data)
   */
  stream(parameters?: StreamParameters, options?: StreamOptions): AsyncIterable<StreamItem>
  /** Returns the account of calls without `accountId`; logs in if that is not known yet. */
  accountId(options?: CallOptions): Promise<string>
  /** Returns a valid token; logs in if there is none. The client may replace it later. */
  token(options?: CallOptions): Promise<string>
  /**
   * Revokes the token that the client obtained by logging in. A token that cannot be revoked is no error: it expires.
   * Later calls log in again.
   */
  close(options?: CallOptions): Promise<void>
}

const DEFAULTS = Object.freeze({
  timeoutMs: 30_000,
  maxRetries: 2,
  tokenLifetimeMs: 86_400_000,
  maxResponseBytes: 67_108_864,
})
const MAX_INTEGER = 2_147_483_647
const CLIENT_OPTIONS: readonly (keyof ClientOptions)[] = [
  'url',
  'apiKey',
  'user',
  'token',
  'accountId',
  'timeoutMs',
  'maxRetries',
  'tokenLifetimeMs',
  'maxResponseBytes',
  'signal',
  'fetch',
  'clock',
]
const USER_FIELDS: readonly (keyof UserLogin)[] = ['username', 'password', 'realm', 'accountName', 'method']

/** The live stream, which is no operation: its response is not JSON. */
const STREAM: Endpoint = { method: 'GET', path: '/accounts/{account_id}/stream' }

/** Characters of a token in a header; anything else could end the header. */
const TOKEN = /^[!-~]{1,4096}$/

/**
 * Creates a client. Nothing is requested before the first call.
 *
 * @throws `HookswitchClientError` `invalid_option` naming the option
 * @example
 * const client = createClient({ url: 'https://hooks.example.com', apiKey: process.env.HOOKSWITCH_API_KEY })
 * const { data } = await client.createWebhook({ data: { name: 'Calls', uri: 'https://crm.example.com/in', hook: 'all' } })
 */
export function createClient(options: ClientOptions): HookswitchClient {
  checkNames('createClient', options, CLIENT_OPTIONS)
  const base = baseUrl(options.url)
  const timeoutMs = integer('timeoutMs', options.timeoutMs, 1) ?? DEFAULTS.timeoutMs
  const maxRetries = integer('maxRetries', options.maxRetries, 0) ?? DEFAULTS.maxRetries
  const lifetimeMs = integer('tokenLifetimeMs', options.tokenLifetimeMs, 1) ?? DEFAULTS.tokenLifetimeMs
  const maxResponseBytes =
    integer('maxResponseBytes', options.maxResponseBytes, 1) ?? DEFAULTS.maxResponseBytes
  const { fetch = globalThis.fetch, clock = SYSTEM_CLOCK } = options
  const secrets = knownSecrets(options)
  const login = loginOf(options, secrets)
  const sessions = sessionKeeper(logIn, lifetimeMs, clock)

  async function logIn(): Promise<Session> {
    const { endpoint, data } = await login()
    if (!endpoint) return { token: checkToken(data) }
    const { data: result, authToken } = await exchange(endpoint, { data }, { isRepeatable: true })
    const accountId = (result as { readonly account_id?: unknown } | null)?.account_id
    if (!TOKEN.test(authToken ?? '') || typeof accountId !== 'string' || accountId === '') {
      throw new HookswitchClientError(
        'invalid_response',
        `PUT ${endpoint.path}: the response has no valid token`,
      )
    }
    return { token: authToken!, accountId }
  }

  /** Sends a call with its token, its account and its retries. */
  async function exchange(
    endpoint: Endpoint,
    parameters: CallParameters,
    callOptions: CallOptions,
  ): Promise<Envelope> {
    checkNames('a call', callOptions, CALL_OPTIONS)
    const what = `${endpoint.method} ${endpoint.path}`
    const limitMs = integer('timeoutMs', callOptions.timeoutMs, 1) ?? timeoutMs
    const retryLimit = integer('maxRetries', callOptions.maxRetries, 0) ?? maxRetries
    const mayRepeat = isRepeatable(endpoint, parameters, callOptions)
    const request = prepareRequest(base, endpoint, parameters, callOptions)
    // An open endpoint with a body is a login.
    const sent = endpoint.isOpen ? textsIn(parameters.data) : []
    const deadline = startDeadline(what, limitMs, [callOptions.signal, options.signal], clock)
    let hasRenewed = false
    let retries = 0
    try {
      for (;;) {
        const session = endpoint.isOpen ? undefined : await deadline.race(sessions.get())
        try {
          return await sendOnce(endpoint, request, session, deadline, sent)
        } catch (thrown) {
          const error = toClientError(thrown, what, base, deadline)
          if (error.status === 401 && session && !hasRenewed && login.canRepeat) {
            hasRenewed = true
            sessions.invalidate(session)
            continue
          }
          const delayMs =
            retries < retryLimit ? retryDelay(error, mayRepeat, retries, Math.random()) : undefined
          if (delayMs === undefined || delayMs >= deadline.leftMs()) throw error
          retries += 1
          await deadline.sleep(delayMs)
        }
      }
    } finally {
      deadline.end()
    }
  }

  /** @param sent further texts that no error may contain */
  async function sendOnce(
    endpoint: Endpoint,
    { method, url, headers, body }: PreparedRequest,
    session: Session | undefined,
    deadline: Deadline,
    sent: readonly string[] = [],
  ): Promise<Envelope> {
    const init: RequestInit & { readonly cache: string } = {
      method,
      headers: session ? { ...headers, 'x-auth-token': session.token } : headers,
      redirect: 'manual',
      cache: 'no-store',
      credentials: 'omit',
      signal: deadline.signal,
      ...(body === undefined ? {} : { body }),
    }
    const response = await fetch(withAccount(url, session), init)
    return readResponse(response, {
      what: `${method} ${endpoint.path}`,
      endpoint,
      maxResponseBytes,
      nowMs: Date.now(),
      secrets: [...secrets, ...sent, ...(session ? [session.token] : [])],
    })
  }

  /** The URL with the account of the options or of the login. */
  function withAccount(url: string, session: Session | undefined): string {
    if (!url.includes(ACCOUNT_PLACEHOLDER)) return url
    const accountId = options.accountId ?? session?.accountId
    if (accountId === undefined)
      throw invalidOption(ACCOUNT_PARAMETER, 'is required with a token of your own')
    return url.replace(ACCOUNT_PLACEHOLDER, () => segment(ACCOUNT_PARAMETER, accountId))
  }

  async function request<Data>(
    endpoint: Endpoint,
    parameters: CallParameters = {},
    callOptions: CallOptions = {},
  ): Promise<ApiResponse<Data>> {
    const {
      startKey: _,
      nextStartKey: __,
      isTruncated: ___,
      ...response
    } = await exchange(endpoint, parameters, callOptions)
    return response as ApiResponse<Data>
  }

  function list<Item>(
    path: string,
    { startKey, ...parameters }: CallParameters = {},
    callOptions: CallOptions = {},
    endpoint: Endpoint = { method: 'GET', path },
  ): List<Item> {
    const what = `GET ${path}`
    return createList<Item>(what, startKey as string | undefined, async (key) => {
      const { data, nextStartKey, requestId, isTruncated } = await exchange(
        endpoint,
        key === undefined ? parameters : { ...parameters, startKey: key },
        callOptions,
      )
      if (!Array.isArray(data)) {
        throw new HookswitchClientError('invalid_response', `${what}: the response is not a list`)
      }
      return {
        items: data as Item[],
        ...(nextStartKey === undefined ? {} : { nextStartKey }),
        ...(requestId === undefined ? {} : { requestId }),
        ...(isTruncated && { isTruncated }),
      }
    })
  }

  function stream(
    streamParameters: StreamParameters = {},
    streamOptions: StreamOptions = {},
  ): AsyncIterable<StreamItem> {
    checkNames('stream', streamParameters, STREAM_PARAMETERS)
    checkNames('stream', streamOptions, STREAM_OPTIONS)
    const { accountId, types, webhookId, callId, result, descendants, lastId: firstId } = streamParameters
    const parameters = {
      ...(accountId !== undefined && { accountId }),
      ...(types !== undefined && { types: types.join(',') }),
      ...(webhookId !== undefined && { webhookId }),
      ...(callId !== undefined && { callId }),
      ...(result !== undefined && { filters: { filter_result: result } }),
      ...(descendants !== undefined && { descendants }),
    }
    const limitMs = integer('timeoutMs', streamOptions.timeoutMs, 1) ?? timeoutMs
    const { url, headers } = prepareRequest(base, STREAM, parameters, {})
    const what = `GET ${STREAM.path}`
    const signals = [streamOptions.signal, options.signal].filter((signal) => signal !== undefined)
    const signal = signals.length > 0 ? AbortSignal.any(signals) : undefined
    let session: Session | undefined

    async function connect(lastId: string | undefined, signal: AbortSignal): Promise<StreamConnection> {
      const connection = new AbortController()
      const deadline = startDeadline(what, limitMs, [signal], clock)
      deadline.signal.addEventListener('abort', () => {
        if (deadline.error()) connection.abort()
      })
      try {
        session = await deadline.race(sessions.get())
        const response = await fetch(withAccount(url, session), {
          headers: {
            ...headers,
            accept: 'text/event-stream',
            'x-auth-token': session.token,
            ...(lastId !== undefined && { 'last-event-id': lastId }),
          },
          redirect: 'manual',
          cache: 'no-store',
          credentials: 'omit',
          signal: connection.signal,
        } as RequestInit)
        const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
        if (response.ok && isStream && response.body)
          return { body: response.body, abort: () => connection.abort() }
        const context = { what, endpoint: STREAM, maxResponseBytes, nowMs: Date.now() }
        await readResponse(response, { ...context, secrets: [...secrets, session.token] })
        throw new HookswitchClientError('invalid_response', `${what}: the response is not a stream`)
      } catch (thrown) {
        connection.abort()
        throw toClientError(thrown, what, base, deadline)
      } finally {
        deadline.end()
      }
    }

    function renew(): boolean {
      if (session) sessions.invalidate(session)
      return login.canRepeat
    }

    return readStream(
      { clock, connect, renew },
      { ...(firstId !== undefined && { lastId: firstId }) },
      { ...streamOptions, ...(signal && { signal }) },
    )
  }

  /** Waits for a session within the limits of a call. */
  async function currentSession(what: string, callOptions: CallOptions): Promise<Session> {
    checkNames('a call', callOptions, CALL_OPTIONS)
    const { signal, timeoutMs: own } = callOptions
    const deadline = startDeadline(
      what,
      integer('timeoutMs', own, 1) ?? timeoutMs,
      [signal, options.signal],
      clock,
    )
    try {
      return await deadline.race(sessions.get())
    } finally {
      deadline.end()
    }
  }

  const operations = Object.fromEntries(
    Object.entries(ENDPOINTS as Readonly<Record<string, Endpoint>>).map(([name, endpoint]) => {
      const call = endpoint.isList
        ? (parameters?: CallParameters, callOptions?: CallOptions) =>
            list(endpoint.path, parameters, callOptions, endpoint)
        : (parameters?: CallParameters, callOptions?: CallOptions) =>
            request(endpoint, parameters, callOptions)
      const isOptionsOnly = endpoint.hasNoParameters === true
      return [name, isOptionsOnly ? (callOptions?: CallOptions) => call({}, callOptions) : call]
    }),
  ) as unknown as Operations

  return {
    ...operations,
    request,
    stream,
    list: (path, parameters, callOptions) => list(path, parameters, callOptions),
    async signOut(callOptions) {
      const response = await operations.signOut(callOptions)
      sessions.clear()
      return response
    },
    async accountId(callOptions = {}) {
      if (options.accountId !== undefined) return options.accountId
      const { accountId } = await currentSession('login', callOptions)
      if (accountId === undefined)
        throw invalidOption(ACCOUNT_PARAMETER, 'is required with a token of your own')
      return accountId
    },
    async token(callOptions = {}) {
      return (await currentSession('login', callOptions)).token
    },
    async close(callOptions = {}) {
      checkNames('close', callOptions, CALL_OPTIONS)
      const session = sessions.current()
      if (session?.accountId === undefined) return sessions.clear()
      try {
        await sendRevocation(session, callOptions)
      } catch {
        // The token expires by itself.
      }
      sessions.clear()
    },
  }

  /** One request with exactly this token: a login only to revoke its token would be absurd. */
  async function sendRevocation(session: Session, { signal, timeoutMs: own }: CallOptions): Promise<void> {
    const deadline = startDeadline('close', integer('timeoutMs', own, 1) ?? timeoutMs, [signal], clock)
    try {
      await sendOnce(ENDPOINTS.signOut, prepareRequest(base, ENDPOINTS.signOut, {}, {}), session, deadline)
    } finally {
      deadline.end()
    }
  }
}

/** Gets what a login needs. Without an endpoint, `data` is a token. */
interface LoginSource {
  (): Promise<{ readonly endpoint?: Endpoint; readonly data: unknown }>
  /** Whether another login may bring another token. */
  readonly canRepeat: boolean
}

/** @param secrets receives what is known only at the login */
function loginOf({ apiKey, user, token }: ClientOptions, secrets: string[]): LoginSource {
  const given = Object.entries({ apiKey, user, token }).filter(([, value]) => value !== undefined)
  const [, second] = given
  if (second) throw invalidOption(second[0], 'only one of apiKey, user and token may be given')
  const remember = (secret: unknown) => {
    if (typeof secret === 'string' && !secrets.includes(secret)) secrets.push(secret)
    return secret
  }
  const source = (get: () => ReturnType<LoginSource>, canRepeat: boolean) => Object.assign(get, { canRepeat })
  if (apiKey !== undefined) {
    if (typeof apiKey !== 'function') nonEmpty('apiKey', apiKey)
    const get = typeof apiKey === 'function' ? apiKey : () => apiKey
    return source(async () => {
      const key = nonEmpty('apiKey', remember(await get()))
      return { endpoint: ENDPOINTS.signInByApiKey, data: { api_key: key } }
    }, true)
  }
  if (user !== undefined) {
    checkNames('user', user, USER_FIELDS)
    const { realm, accountName, method } = user
    if ((realm === undefined) === (accountName === undefined)) {
      throw invalidOption('user', 'needs either realm or accountName')
    }
    if (method !== undefined && method !== 'md5' && method !== 'sha') {
      throw invalidOption('user.method', 'must be md5 or sha')
    }
    const username = nonEmpty('user.username', user.username)
    const hash = hashCredentials(username, nonEmpty('user.password', user.password), method)
    remember(hash)
    const account = realm === undefined ? { account_name: accountName } : { account_realm: realm }
    const data = { credentials: hash, ...account, ...(method === undefined ? {} : { method }) }
    return source(async () => ({ endpoint: ENDPOINTS.signInByCredentials, data }), true)
  }
  if (token !== undefined) {
    if (typeof token === 'function') return source(async () => ({ data: remember(await token()) }), true)
    checkToken(token)
    return source(async () => ({ data: token }), false)
  }
  return source(async () => {
    throw invalidOption('apiKey', 'is required by this call (or user or token)')
  }, false)
}

function checkToken(token: unknown): string {
  if (typeof token === 'string' && TOKEN.test(token)) return token
  throw invalidOption('token', 'must be printable ASCII characters without spaces')
}

function nonEmpty(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalidOption(name, 'must be a non-empty string')
}

const knownSecrets = ({ apiKey, user, token }: ClientOptions): string[] =>
  [apiKey, user?.password, token].filter((value) => typeof value === 'string')

/** The texts in the fields of an object. */
function textsIn(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null) return []
  return Object.values(data).filter((value) => typeof value === 'string')
}

/** The error of the call's limits, of the service, or of the connection. */
function toClientError(
  thrown: unknown,
  what: string,
  base: string,
  deadline: Deadline,
): HookswitchClientError {
  const over = deadline.error()
  if (over) return over
  if (thrown instanceof HookswitchClientError) return thrown
  const cause = (thrown as { readonly cause?: { readonly code?: unknown } } | null)?.cause?.code
  const detail = typeof cause === 'string' ? ` (${cause})` : ''
  const problem = `no complete response from ${new URL(base).host}${detail}`
  return new HookswitchClientError('network', `${what}: ${problem}`, { cause: thrown })
}

/** @throws `invalid_option`; the message does not quote the URL, which may contain a password */
function baseUrl(url: string | URL): string {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href
  let parsed: URL
  try {
    parsed = new URL(url, page)
  } catch {
    throw invalidOption('url', 'must be a URL like https://hooks.example.com')
  }
  const { protocol, username, password, search, hash } = parsed
  if (protocol !== 'http:' && protocol !== 'https:')
    throw invalidOption('url', 'must begin with http or https')
  if (username !== '' || password !== '') throw invalidOption('url', 'must not contain a user or password')
  if (search !== '' || hash !== '') throw invalidOption('url', 'must not have a query or fragment')
  const path = parsed.pathname.replace(/(?<!\/)\/+$/, '')
  return `${parsed.origin}${path}${/\/v[12]$/.test(path) ? '' : '/v1'}`
}

function integer(name: string, value: number | undefined, min: number): number | undefined {
  if (value === undefined) return undefined
  if (Number.isInteger(value) && value >= min && value <= MAX_INTEGER) return value
  throw invalidOption(name, `must be an integer from ${min} to ${MAX_INTEGER}`)
}
