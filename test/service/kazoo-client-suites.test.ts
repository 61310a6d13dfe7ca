/**
 * What the test suites of KAZOO's clients do with accounts and users: the requests as these clients send them, and what they
 * expect of the answers. Sources: npm `crossbar` 1.0.0 (`lib/crossbar.js`, `lib/apis`), kazoo-php-sdk (`lib/Kazoo/Client.php`,
 * `AccountTest`, `UserTest`), Monster UI (`jquery.kazoosdk.js`), KAZOO's own suite (`core/kazoo_proper`: `pqc_cb_accounts`,
 * `pqc_cb_users`, `pqc_cb_search`).
 */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { callApi } from './api-client.js'
import { API_KEY, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

// biome-ignore lint/suspicious/noExplicitAny: documents are read as plain data.
type Document = any

it('npm crossbar: accounts and users', async () => {
  const { port } = await startService()
  let token: string | undefined
  /** `crossbar.prototype.init_api`: the verb is repeated in the body, and only an error has a body with status `error`. */
  const call = async (method: string, url: string, data?: object, needsToken = true): Promise<Document> => {
    const { text } = await callApi(port, method, `/v1${url}`, {
      ...(method !== 'GET' && { body: JSON.stringify({ data, verb: method }) }),
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        ...(needsToken && { 'X-Auth-Token': `${token}` }),
      },
    })
    const body = JSON.parse(text)
    if (body.status === 'error') throw Object.assign(new Error(body.message), { body })
    return body
  }
  const login = await call(
    'PUT',
    '/user_auth',
    { credentials: md5('Ada:lovelace'), account_name: 'parenttelecom' },
    false,
  )
  token = login.auth_token
  const { account_id } = login.data

  const created = await call('PUT', `/accounts/${account_id}`, {
    name: 'Crossbar Ltd',
    realm: 'crossbar.example',
  })
  const id = created.data.id
  expect((await call('GET', `/accounts/${id}`)).data).toMatchObject({ id, name: 'Crossbar Ltd' })
  const updated = await call('POST', `/accounts/${id}`, { ...created.data, name: 'Crossbar AG' })
  expect(updated.data).toMatchObject({ name: 'Crossbar AG', realm: 'crossbar.example' })
  expect((await call('GET', `/accounts/${id}/ancestors`)).data.map(({ id }: Document) => id)).toEqual([
    'parent',
  ])
  for (const list of ['children', 'descendants']) {
    const ids = (await call('GET', `/accounts/${account_id}/${list}`)).data.map(({ id }: Document) => id)
    expect(ids.sort(), list).toEqual([id, 'child'].sort())
  }
  expect((await call('GET', `/accounts/${id}/siblings`)).data).toHaveLength(2)

  const users = `/accounts/${id}/users`
  const user = await call('PUT', users, {
    first_name: 'Ada',
    last_name: 'Birch',
    username: 'ada',
    password: 'pw',
  })
  expect((await call('GET', users)).data).toMatchObject([{ id: user.data.id, username: 'ada' }])
  const changed = await call('POST', `${users}/${user.data.id}`, { ...user.data, last_name: 'Beech' })
  expect(changed.data).toMatchObject({ first_name: 'Ada', last_name: 'Beech', username: 'ada' })
  expect((await call('GET', `${users}/${user.data.id}`)).data.last_name).toBe('Beech')
  // Its DELETE has a body without `data`.
  expect((await call('DELETE', `${users}/${user.data.id}`)).data.id).toBe(user.data.id)
  await expect(call('GET', `${users}/${user.data.id}`)).rejects.toMatchObject({ body: { error: '404' } })
  expect((await call('DELETE', `/accounts/${id}`)).data.id).toBe(id)
  await expect(call('GET', `/accounts/${id}`)).rejects.toMatchObject({ body: { error: '403' } })
})

it('kazoo-php-sdk: AccountTest and UserTest', async () => {
  const { port } = await startService()
  let token = ''
  /** `Client::put` and the like: version 1, every request with the base headers, `DELETE` without a body. */
  const call = async (method: string, path: string, data?: object, status = 200): Promise<Document> => {
    const answer = await callApi(port, method, `/v1${path}`, {
      ...(data && { body: JSON.stringify({ data }) }),
      headers: {
        'User-Agent': 'kazoo-php-sdk (http://github.com/2600hz/kazoo-php-sdk)',
        'Content-Type': 'application/json',
        Accept: 'application/json',
        'X-Auth-Token': token,
      },
    })
    expect([answer.status, answer.headers['content-type']], `${method} ${path}`).toEqual([
      status,
      'application/json',
    ])
    return answer.json
  }
  // The token is empty until the login.
  const login = await call(
    'PUT',
    '/user_auth',
    { credentials: md5('Ada:lovelace'), realm: 'parent.example.com' },
    201,
  )
  token = login.auth_token
  const base = `/accounts/${login.data.account_id}`

  /** `AbstractEntity::updateFromResult`: an entity is merged with each answer, and sent whole. */
  const account: Document = {
    name: 'Unit-Test Account',
    realm: 'sip4711.unittestaccount.com',
    timezone: 'America/Chicago',
  }
  Object.assign(account, (await call('PUT', base, account, 201)).data)
  expect(account.id.length).toBeGreaterThan(0)
  Object.assign(account, (await call('GET', `/accounts/${account.id}`)).data)
  account.name = `Updated: ${account.name}`
  Object.assign(account, (await call('POST', `/accounts/${account.id}`, account)).data)
  expect(account).toMatchObject({
    name: 'Updated: Unit-Test Account',
    realm: 'sip4711.unittestaccount.com',
    timezone: 'America/Chicago',
  })
  await call('DELETE', `/accounts/${account.id}`)

  const user: Document = {
    first_name: 'UnitTestFirstName4711',
    last_name: 'UnitTestFirstName4711',
    username: 'UnitTest4711',
    password: 'secret',
  }
  Object.assign(user, (await call('PUT', `${base}/users`, user, 201)).data)
  Object.assign(user, (await call('GET', `${base}/users/${user.id}`)).data)
  user.first_name = `${user.first_name}-`
  Object.assign(user, (await call('POST', `${base}/users/${user.id}`, user)).data)
  expect(user.first_name).toBe('UnitTestFirstName4711-')
  expect((await call('GET', `${base}/users`)).data).toHaveLength(2)
  const found = await call('GET', `${base}/users?filter_first_name=UnitTestFirstName4711-`)
  expect(found.data.map(({ id }: Document) => id)).toEqual([user.id])
  expect((await call('GET', `${base}/users?filter_first_name=nobody`)).data).toEqual([])
  await call('DELETE', `${base}/users/${user.id}`)
  await call('GET', `${base}/users/${user.id}`, undefined, 404)
})

it('Monster UI: account.* but promote and demote, user.*, apiKey.*', async () => {
  const { port } = await startService()
  let token: string | undefined
  let requests = 0
  /**
   * `request`: jQuery defeats caches by `_=`, a token that does not exist yet is sent as `undefined`, and every body but that of
   * GET has the metadata of the user interface.
   */
  const call = async (verb: string, url: string, data: object = {}): Promise<Document> => {
    requests += 1
    const cacheBuster = `${url.includes('?') ? '&' : '?'}_=${1_700_000_000_000 + requests}`
    const answer = await callApi(port, verb, `/v2/${url}${verb === 'GET' ? cacheBuster : ''}`, {
      ...(verb !== 'GET' && {
        body: JSON.stringify({ data: { ...data, ui_metadata: { version: '5.3.0', ui: 'monster-ui' } } }),
      }),
      headers: {
        Accept: 'application/json, text/javascript, */*; q=0.01',
        'X-Auth-Token': `${token}`,
        ...(verb !== 'GET' && { 'Content-Type': 'application/json' }),
        Origin: 'https://monster.example',
      },
    })
    expect(answer.headers['content-type']).toBe('application/json')
    return { httpErrorStatus: answer.status, ...answer.json }
  }
  const login = await call('PUT', 'user_auth', {
    credentials: md5('Ada:lovelace'),
    account_name: 'Parent Telecom',
  })
  token = login.auth_token
  const { account_id, owner_id } = login.data
  // Its login reads the user and the account, and the list of apps.
  expect((await call('GET', `accounts/${account_id}/users/${owner_id}`)).data).toMatchObject({
    id: 'ada',
    priv_level: 'admin',
    first_name: 'Ada',
    last_name: '-',
  })
  const own = (await call('GET', `accounts/${account_id}`)).data
  expect(own).toMatchObject({ is_reseller: false, superduper_admin: false, wnm_allow_additions: false })
  expect((await call('GET', `accounts/${account_id}/apps_store`)).data).toEqual([])

  const created = await call('PUT', `accounts/${account_id}`, {
    name: 'Birch Dental',
    realm: 'birch.example',
  })
  const { id } = created.data
  const patched = await call('PATCH', `accounts/${id}`, { ui_flags: { tour: 1 }, enabled: false })
  expect(patched.data).toMatchObject({ ui_flags: { tour: 1 }, enabled: false, realm: 'birch.example' })
  const read = (await call('GET', `accounts/${id}`)).data
  const updated = await call('POST', `accounts/${id}`, { ...read, name: 'Birch', enabled: true })
  expect(updated.data).toMatchObject({ name: 'Birch', enabled: true, ui_flags: { tour: 1 } })
  const idsOf = ({ data }: Document) => data.map(({ id }: Document) => id)
  expect(idsOf(await call('GET', `accounts/${account_id}/children?ascending=true`))).toEqual([id, 'child'])
  expect(idsOf(await call('GET', `accounts/${account_id}/descendants?paginate=false`))).toEqual([id, 'child'])
  expect(idsOf(await call('GET', `accounts/${id}/tree`))).toEqual(['parent'])
  expect(idsOf(await call('GET', 'search?t=account&q=name&v=birch'))).toEqual([id])
  const all = await call('GET', 'search/multi?t=account&by_name=birch&by_realm=birch&by_id=birch')
  expect([idsOf({ data: all.data.name }), idsOf({ data: all.data.realm }), all.data.id]).toEqual([
    [id],
    [id],
    [],
  ])
  expect((await call('PUT', `accounts/${id}/reseller`)).httpErrorStatus).toBe(501)

  const users = `accounts/${id}/users`
  const user = await call('PUT', users, {
    first_name: 'Ada',
    last_name: 'Birch',
    username: 'Ada@Birch.example',
    password: 'correct horse',
    email: 'ada@birch.example',
    priv_level: 'admin',
    send_email_on_creation: true,
  })
  expect(user.data).toMatchObject({ username: 'ada@birch.example', ui_metadata: { ui: 'monster-ui' } })
  expect(user.data).not.toHaveProperty('password')
  expect(user.data).not.toHaveProperty('send_email_on_creation')
  const whole = await call('POST', `${users}/${user.data.id}`, { ...user.data, last_name: 'Beech' })
  expect(whole.data.last_name).toBe('Beech')
  const password = await call('PATCH', `${users}/${user.data.id}`, {
    password: 'battery staple',
    require_password_update: false,
  })
  expect(password.data.require_password_update).toBe(false)
  const signIn = (text: string) =>
    call('PUT', 'user_auth', { credentials: md5(`ada@birch.example:${text}`), account_name: 'Birch' })
  expect((await signIn('correct horse')).httpErrorStatus).toBe(401)
  expect((await signIn('battery staple')).data).toMatchObject({ account_id: id, owner_id: user.data.id })
  expect(idsOf(await call('GET', users))).toEqual([user.data.id])
  expect((await call('GET', `accounts/${id}/api_key`)).data.api_key).toMatch(/^[0-9a-f]{64}$/)
  expect((await call('PUT', `accounts/${id}/api_key`)).httpErrorStatus).toBe(201)
  expect((await call('GET', `${users}/${user.data.id}/hotdesks`)).httpErrorStatus).toBe(501)
  expect((await call('DELETE', `${users}/${user.data.id}`)).data._read_only.deleted).toBe(true)
  expect((await call('DELETE', `accounts/${id}`)).data._read_only.deleted).toBe(true)
})

it("KAZOO's own suite: pqc_cb_accounts, pqc_cb_search and pqc_cb_users", async () => {
  const { port } = await startService()
  let token: string | undefined
  let requests = 0
  const call = async (method: string, path: string, data?: object): Promise<Document> => {
    requests += 1
    const answer = await callApi(port, method, `/v2/${path}`, {
      ...(data && { body: JSON.stringify({ data }) }),
      headers: {
        ...(token !== undefined && { 'x-auth-token': token }),
        'x-request-id': `a1b2c3d4e5-${1_700_000_000_000 + requests}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
    })
    expect(answer.json.request_id).toBe(`a1b2c3d4e5-${1_700_000_000_000 + requests}`)
    return answer
  }
  const login = await call('PUT', 'api_auth', { api_key: API_KEY })
  expect(login.status).toBe(201)
  token = login.json.auth_token
  const own = login.json.data.account_id

  const created = await call('PUT', `accounts/${own}`, { name: 'pqc_cb_users' })
  expect(created.status).toBe(201)
  const { id } = created.json.data
  // A name that is taken: the suite accepts 500 of older versions, and an error in any case.
  expect((await call('PUT', `accounts/${own}`, { name: 'pqc_cb_users' })).json.status).toBe('error')
  // The cleanup finds the account by its name below the account of the token.
  const found = await call('GET', `accounts/${own}/search?t=account&q=name&v=pqc_cb_users`)
  expect([found.status, found.json.data[0].id]).toEqual([200, id])

  const users = `accounts/${id}/users`
  expect((await call('GET', users)).json.data).toEqual([])
  const model = { first_name: 'a1b2c3d4', last_name: 'e5f60718' }
  const user = await call('PUT', users, model)
  expect([user.status, user.headers['content-type']]).toEqual([201, 'application/json'])
  expect(user.headers.location).toMatch(new RegExp(`^/v2/${users}/(\\w{32})$`))
  expect(user.json.data).toMatchObject(model)
  const withEmail = { ...user.json.data, email: 'a1b2c3d4@2600hz.com' }
  const updated = await call('POST', `${users}/${withEmail.id}`, withEmail)
  expect([updated.status, updated.headers['content-type']]).toEqual([200, 'application/json'])
  // Every key of the model, also `_read_only`, except the time of the change.
  const { _read_only: _, ...fields } = withEmail
  expect(updated.json.data).toMatchObject(fields)
  const patched = await call('PATCH', `${users}/${withEmail.id}`, { custom: 'value' })
  expect(patched.json.data).toMatchObject({ ...fields, custom: 'value' })
  expect((await call('GET', users)).json.data.map(({ id }: Document) => id)).toEqual([withEmail.id])
  expect((await call('DELETE', `${users}/${withEmail.id}`)).status).toBe(200)
  expect((await call('GET', users)).json.data).toEqual([])

  // wrong_format_check
  expect((await call('PUT', users, { ...model, email: 'e' })).json.status).toBe('error')
  const wrong = await call('PUT', users, { ...model, email: '0a1b2c3d' })
  expect([wrong.status, wrong.json.data.email.wrong_format.value]).toEqual([400, '0a1b2c3d'])

  // cleanup_account
  expect((await call('DELETE', `accounts/${id}`)).status).toBe(200)
  expect((await call('GET', `accounts/${own}/search?t=account&q=name&v=pqc_cb_users`)).json.data).toEqual([])
})
