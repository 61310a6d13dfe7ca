/**
 * The table of authority: each route, requested by each kind of caller for each kind of account. A caller without the
 * right gets 403 (an unknown account: an operator gets 404), never a success.
 */
import { createHash } from 'node:crypto'
import type { Hookswitch } from 'hookswitch'
import { expect, it } from 'vitest'
import { NOT_IMPLEMENTED, ROUTES, type Route } from '../../src/wire/routes.js'
import { API_KEY, type RunningService, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/** `reader`: a token of the role `read` for the admin `ada`. */
const CALLERS = ['key', 'admin', 'user', 'reader', 'child', 'stranger', 'operator'] as const
type Caller = (typeof CALLERS)[number]
/** Own account, one below, the parent of a child's token, an unrelated one, and one that does not exist. */
const TARGETS = ['parent', 'child', 'other', 'nobody', '..%2Fparent', 'x%20y'] as const
type Target = (typeof TARGETS)[number]

async function tokensOf({ hs }: RunningService): Promise<Readonly<Record<Caller, string>>> {
  await hs.accounts.create({
    id: 'ops',
    name: 'Operations',
    realm: 'ops.example.com',
    apiKey: 'p'.repeat(64),
  })
  await hs.accounts.addUser('parent', { id: 'uma', username: 'uma', password: 'user', privLevel: 'user' })
  const byKey = async (apiKey: string) => (await hs.auth.signIn({ apiKey })).token
  const byPassword = async (name: string, password: string) =>
    (await hs.auth.signIn({ credentials: md5(`${name}:${password}`), realm: 'parent.example.com' })).token
  return {
    key: await byKey(API_KEY),
    admin: await byPassword('ada', 'lovelace'),
    user: await byPassword('uma', 'user'),
    reader: (await hs.auth.issue({ accountId: 'parent', userId: 'ada', role: 'read', ttlSeconds: 60 })).token,
    child: await byKey('c'.repeat(64)),
    stranger: await byKey('o'.repeat(64)),
    operator: await byKey('p'.repeat(64)),
  }
}

const OWN: Readonly<Record<Caller, Target | 'ops'>> = {
  key: 'parent',
  admin: 'parent',
  user: 'parent',
  reader: 'parent',
  child: 'child',
  stranger: 'other',
  operator: 'ops',
}
const isKnown = (target: string) => ['parent', 'child', 'other', 'ops'].includes(target)

/** Whether the caller may use the route on the target, by the words of the specification of accounts. */
function isExpectedToPass(route: Route, caller: Caller, target: string, restrictUsers: boolean): boolean {
  const isOwn = OWN[caller] === target
  const isBelow = target === 'child' && OWN[caller] === 'parent'
  if (caller === 'operator') return true
  if (!isOwn && !isBelow) return false
  const { access = 'read' } = route
  if (access === 'operator') return false
  if (caller !== 'user' && caller !== 'reader') return access !== 'ancestor' || isBelow
  if (access === 'read') return isOwn || !restrictUsers
  if (access === 'write') return caller === 'user' && !restrictUsers
  return false
}

const urlOf = (route: Route, target: string) =>
  `/v2${route.path.replace('{account_id}', target).replaceAll(/\{\w+\}/g, 'unknown')}`

async function statusOf({ hs }: RunningService, route: Route, url: string, token: string): Promise<number> {
  // A body that no operation accepts: what passes changes nothing.
  const data = { name: 5, first_name: 5, to: 5, call_id: 5, 're-enable': 5 }
  const body = route.bodyKind === 'none' ? {} : { body: JSON.stringify({ data }) }
  const headers = { 'x-auth-token': token }
  const { status, stream } = await hs.handle({ method: route.method, url, headers, ...body })
  stream?.close()
  return status
}

/** Routes without a body that would change the accounts of the table. */
const DESTRUCTIVE = new Set(['deleteAccount', 'rotateApiKey', 'signOut'])

it.each([true, false])(
  'every route refuses whoever lacks the right (restrictUsers: %s)',
  async (restrictUsers) => {
    const service = await startService({
      operators: ['ops'],
      restrictUsers,
      ingest: true,
      replayBurst: 10_000,
    })
    const tokens = await tokensOf(service)
    const routes = [...ROUTES, ...NOT_IMPLEMENTED].filter(
      ({ path, requiresToken }) => requiresToken && path.includes('{account_id}'),
    )
    const wrong: string[] = []
    for (const route of routes) {
      for (const caller of CALLERS) {
        for (const target of TARGETS) {
          const mayPass = isExpectedToPass(route, caller, target, restrictUsers)
          if (mayPass && isKnown(target) && DESTRUCTIVE.has(route.operation)) continue
          const status = await statusOf(service, route, urlOf(route, target), tokens[caller])
          // Siblings of the token's account are refused by the operation.
          const isOwnSiblings = route.operation === 'listSiblings' && OWN[caller] === target
          const isAllowed = mayPass && (!isOwnSiblings || caller === 'operator')
          const isUnknown = isAllowed && !isKnown(target)
          const isRight = isUnknown
            ? status === 404 || status === 400
            : isAllowed
              ? status !== 403 && status !== 401
              : status === 403
          if (!isRight) wrong.push(`${caller}: ${route.method} ${urlOf(route, target)}: ${status}`)
        }
      }
    }
    expect(wrong).toEqual([])
  },
  120_000,
)

it('routes without an account in the path are for admins, and the list of all accounts for operators', async () => {
  const service = await startService({ operators: ['ops'] })
  const tokens = await tokensOf(service)
  const status = async (caller: Caller, method: string, path: string, data?: object) =>
    (await service.callApi(method, path, { token: tokens[caller], ...(data && { data }) })).status
  for (const caller of CALLERS) {
    expect(await status(caller, 'GET', '/v2/accounts'), caller).toBe(caller === 'operator' ? 200 : 403)
    expect(await status(caller, 'PUT', '/v2/accounts', { name: 5 }), caller).toBe(
      caller === 'user' || caller === 'reader' ? 403 : 400,
    )
    const search = await status(caller, 'GET', '/v2/search?t=account&q=name&v=c')
    expect(search, caller).toBe(caller === 'user' || caller === 'reader' ? 403 : 200)
  }
  expect(await status('user', 'DELETE', '/v2/token_auth')).toBe(200)
})

it('a token can be asked what it may do', async () => {
  const rightsOf = async (restrictUsers: boolean) => {
    const service = await startService({ operators: ['ops'], restrictUsers })
    const tokens = await tokensOf(service)
    const answers = CALLERS.map(async (caller) => {
      const { status, json } = await service.callApi('GET', '/v2/token_auth', { token: tokens[caller] })
      const { account_id, owner_id, priv_level, is_operator, is_read_only } = json.data
      return [caller, status, account_id, owner_id, priv_level, is_operator, is_read_only]
    })
    return Promise.all(answers)
  }
  const restricted = await rightsOf(true)
  expect(restricted).toEqual([
    ['key', 200, 'parent', undefined, 'admin', false, false],
    ['admin', 200, 'parent', expect.any(String), 'admin', false, false],
    ['user', 200, 'parent', 'uma', 'user', false, true],
    ['reader', 200, 'parent', 'ada', 'user', false, true],
    ['child', 200, 'child', undefined, 'admin', false, false],
    ['stranger', 200, 'other', undefined, 'admin', false, false],
    ['operator', 200, 'ops', undefined, 'admin', true, false],
  ])
  const [, , user, reader] = await rightsOf(false)
  expect(reader).toEqual(['reader', 200, 'parent', 'ada', 'user', false, true])
  expect(user).toEqual(['user', 200, 'parent', 'uma', 'user', false, false])
})

it('a user without admin rights changes its own document, but not its rights, state and name', async () => {
  const service = await startService({})
  const tokens = await tokensOf(service)
  const edit = async (method: string, user: string, data: object) =>
    service.callApi(method, `/v2/accounts/parent/users/${user}`, { token: tokens.user, data })
  const names = { first_name: 'Uma', last_name: 'User' }
  expect((await edit('PATCH', 'uma', names)).status).toBe(200)
  expect((await edit('PATCH', 'ada', names)).status).toBe(403)
  for (const data of [
    { priv_level: 'admin' },
    { enabled: false },
    { username: 'root' },
    { username: null },
  ]) {
    expect((await edit('PATCH', 'uma', data)).status, JSON.stringify(data)).toBe(403)
    expect((await edit('POST', 'uma', { ...names, ...data })).status, JSON.stringify(data)).toBe(403)
  }
  const same = await edit('POST', 'uma', { ...names, priv_level: 'user', enabled: 'true', username: 'UMA' })
  expect(same.json.data).toMatchObject({ ...names, priv_level: 'user', username: 'uma', enabled: true })
  const kept = await edit('POST', 'uma', names)
  expect(kept.json.data).toMatchObject({ priv_level: 'user', username: 'uma' })
  const key = await service.callApi('GET', '/v2/accounts/parent?include_api_key=true', { token: tokens.user })
  expect(key.json.data).not.toHaveProperty('api_key')
  const forAdmin = await service.callApi('GET', '/v2/accounts/parent?include_api_key=true', {
    token: tokens.admin,
  })
  expect(forAdmin.json.data.api_key).toBe(API_KEY)
  expect(forAdmin.headers['cache-control']).toBe('no-store')
  // Changing one's own password ends the calling token.
  expect((await edit('PATCH', 'uma', { password: 'another' })).status).toBe(200)
  expect((await edit('PATCH', 'uma', names)).status).toBe(401)
})

it('a token of the role read changes no user, not even its own, whose password would be a login with all rights', async () => {
  for (const restrictUsers of [true, false]) {
    const { callApi, hs } = await startService({ restrictUsers })
    const { token } = await hs.auth.issue({
      accountId: 'parent',
      userId: 'ada',
      role: 'read',
      ttlSeconds: 60,
    })
    const { status } = await callApi('PATCH', '/v2/accounts/parent/users/ada', {
      token,
      data: { password: 'another' },
    })
    expect(status).toBe(403)
  }
})

it('the token of an operator for itself is one of an operator only with the role admin', async () => {
  const { callApi, hs } = await startService({ operators: ['parent'] })
  const overview = async (role: 'admin' | 'read') => {
    const { token } = await hs.auth.issue({ accountId: 'parent', role, ttlSeconds: 60 })
    const data = { account_id: 'other', role: 'admin', ttl_seconds: 60 }
    return [
      (await callApi('GET', '/v2/system/overview', { token })).status,
      (await callApi('PUT', '/v2/system/tokens', { token, data })).status,
      (await callApi('GET', '/v2/accounts/other', { token })).status,
    ]
  }
  expect(await overview('admin')).toEqual([200, 201, 200])
  expect(await overview('read')).toEqual([403, 403, 403])
})

it('a change of rights counts from the next request on', async () => {
  const service = await startService({})
  const tokens = await tokensOf(service)
  const create = (token: string) =>
    service.callApi('PUT', '/v2/accounts/parent', { token, data: { name: 5 } }).then(({ status }) => status)
  const setLevel = (priv_level: string) =>
    service.callApi('PATCH', '/v2/accounts/parent/users/uma', { token: tokens.admin, data: { priv_level } })
  expect(await create(tokens.user)).toBe(403)
  await setLevel('admin')
  expect(await create(tokens.user)).toBe(400)
  await setLevel('user')
  expect(await create(tokens.user)).toBe(403)
})

it('a disabled user cannot sign in, and its tokens stay invalid when it is enabled again', async () => {
  const service = await startService({})
  const { user, admin } = await tokensOf(service)
  const patch = (enabled: boolean) =>
    service.callApi('PATCH', '/v2/accounts/parent/users/uma', { token: admin, data: { enabled } })
  const signIn = () =>
    service.hs.auth.signIn({ credentials: md5('uma:user'), realm: 'parent.example.com' }).then(
      () => 'signed in',
      (thrown) => thrown.code,
    )
  const read = async () => (await service.callApi('GET', '/v2/accounts/parent', { token: user })).status
  expect(await read()).toBe(200)
  await patch(false)
  expect([await read(), await signIn()]).toEqual([401, 'InvalidCredentials'])
  await patch(true)
  expect([await read(), await signIn()]).toEqual([401, 'signed in'])
})

it('with a directory of the host, reads are answered from it and the rest with 501', async () => {
  const accounts = [
    { id: 'host', name: 'Host', realm: 'host.example' },
    { id: 'sub', name: 'Sub', realm: 'sub.example', parentId: 'host' },
  ].map((account) => ({
    ...account,
    enabled: true,
    language: 'en-us',
    isReseller: false,
    createdMs: 0,
    modifiedMs: 0,
  }))
  const directory: NonNullable<Parameters<typeof startService>[0]>['directory'] = {
    lineage: async (id) => accounts.slice(0, id === 'sub' ? 2 : id === 'host' ? 1 : 0).reverse(),
    descendants: async (id) => (id === 'host' ? ['sub'] : []),
    accountsByRealm: async () => [],
    accountsByName: async () => [],
    holderOfApiKey: async () => ({ accountId: 'host', credentialVersion: '1' }),
    holderOfCredentials: async () => undefined,
    credentialVersion: async () => '1',
    readApiKey: async () => API_KEY,
  }
  const { callApi, hs } = await startService({ directory })
  const call = async (method: string, path: string, data?: object) => {
    const { status, json } = await callApi(method, `/v2${path}`, data ? { data } : {})
    return { status, data: json.data }
  }
  expect(await call('GET', '/accounts/sub')).toMatchObject({ status: 200, data: { reseller_id: 'host' } })
  expect((await call('GET', '/accounts/host/children')).data).toMatchObject([
    { id: 'sub', descendants_count: 0 },
  ])
  expect((await call('GET', '/accounts/host/descendants')).data).toMatchObject([
    { id: 'sub', tree: ['host'] },
  ])
  expect((await call('GET', '/accounts/sub/tree')).data).toMatchObject([{ id: 'host' }])
  const lacks = (cause: string) => ({
    status: 501,
    data: { message: 'accounts are kept by the host', cause },
  })
  expect(await call('PUT', '/accounts/host', { name: 'New' })).toEqual(lacks('createChildAccount'))
  expect(await call('PATCH', '/accounts/sub', { name: 'New' })).toEqual(lacks('patchAccount'))
  expect(await call('DELETE', '/accounts/sub')).toEqual(lacks('deleteAccount'))
  expect(await call('GET', '/accounts/host/users')).toEqual(lacks('listUsers'))
  expect(await call('PUT', '/accounts/host/users', { first_name: 'A' })).toEqual(lacks('createUser'))
  expect(await call('PUT', '/accounts/host/api_key')).toEqual(lacks('rotateApiKey'))
  expect((hs satisfies Hookswitch).node).toBeTypeOf('string')
})
