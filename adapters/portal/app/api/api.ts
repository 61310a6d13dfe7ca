/** Calls of the API with the token of the session. A 401 opens the login dialog; everything on the screen stays. */
import {
  type CallParameters,
  createClient,
  type HookswitchClient,
  HookswitchClientError,
  type Page,
  type UserLogin,
} from 'hookswitch/client'
import { expire, type Session, session } from '../state/session.js'
import { API_URL } from './settings.js'

/** The path of an account's resources, below the version. */
const ACCOUNT = '/accounts/{account_id}'

let current: { readonly token: string; readonly client: HookswitchClient } | undefined

function clientOf({ token }: Session): HookswitchClient {
  if (current?.token !== token) current = { token, client: createClient({ url: API_URL, token }) }
  return current!.client
}

/**
 * Runs a call with the client of a session, which has no operations (operations.ts).
 *
 * @param used default: the session that there is
 * @throws the error of the call
 */
export async function call<Result>(
  run: (client: Pick<HookswitchClient, 'request' | 'list' | 'stream'>) => Promise<Result>,
  used: Session | undefined = session.value,
): Promise<Result> {
  if (!used) throw new HookswitchClientError('invalid_credentials', 'not signed in', { status: 401 })
  try {
    return await run(clientOf(used))
  } catch (thrown) {
    if (statusOf(thrown) === 401) expire(used)
    throw thrown
  }
}

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** Requests any endpoint; returns `data` of the response. */
export async function request<Data>(
  method: Method,
  path: string,
  parameters: CallParameters = {},
  signal?: AbortSignal,
): Promise<Data> {
  return call(async (client) => {
    const response = await client.request<Data>({ method, path }, parameters, signal ? { signal } : {})
    return response.data
  })
}

/** The same below the account `accountId` of the parameters. */
export const accountRequest = <Data>(
  method: Method,
  path: string,
  parameters: CallParameters,
  signal?: AbortSignal,
): Promise<Data> => request<Data>(method, `${ACCOUNT}${path}`, parameters, signal)

/** One page of a list below an account. */
export const accountPage = <Item>(
  path: string,
  parameters: CallParameters,
  signal?: AbortSignal,
): Promise<Page<Item>> =>
  call((client) => client.list<Item>(`${ACCOUNT}${path}`, parameters, signal ? { signal } : {}).page())

/** The first items below an account, from as many pages as they need: a page may end before it has all. */
export const accountItems = <Item>(
  path: string,
  parameters: CallParameters,
  most: number,
  signal?: AbortSignal,
): Promise<readonly Item[]> =>
  call(async (client) => {
    const items: Item[] = []
    const list = client.list<Item>(
      `${ACCOUNT}${path}`,
      { ...parameters, pageSize: most },
      signal ? { signal } : {},
    )
    for await (const { items: added } of list.pages()) {
      items.push(...added)
      if (items.length >= most) break
    }
    return items.slice(0, most)
  })

/** One page of any list. */
export const page = <Item>(
  path: string,
  parameters: CallParameters,
  signal?: AbortSignal,
): Promise<Page<Item>> =>
  call((client) => client.list<Item>(path, parameters, signal ? { signal } : {}).page())

/** Exchanges an API key, or a user's name and password, for a session. @throws the error of the login */
export async function logIn(
  login: { readonly apiKey: string } | { readonly user: UserLogin },
): Promise<Session> {
  const client = createClient({ url: API_URL, ...login, maxRetries: 0 })
  return { token: await client.token(), accountId: await client.accountId() }
}

/** Revokes the token. A token that cannot be revoked expires by itself. */
export async function revoke({ token }: Session): Promise<void> {
  await createClient({ url: API_URL, token, maxRetries: 0 })
    .signOut()
    .catch(() => {})
}

export const statusOf = (thrown: unknown): number | undefined =>
  thrown instanceof HookswitchClientError ? thrown.status : undefined

/** Statuses of what this user may not see, is not there, or is switched off in this service. */
const ABSENT = new Set([403, 404, 405, 501])

/** `undefined` for what is absent; the screen leaves it out. */
export async function optional<Result>(calling: Promise<Result>): Promise<Result | undefined> {
  try {
    return await calling
  } catch (thrown) {
    if (ABSENT.has(statusOf(thrown) ?? 0)) return undefined
    throw thrown
  }
}
