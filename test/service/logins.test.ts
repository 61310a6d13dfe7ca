/** Logins over HTTP: the spelling of user names, and what the response says about the account. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { type RunningService, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const NAMES = { first_name: 'Carol', last_name: 'Birch' }

/** Statuses of logins with a password and these spellings of the user name. */
async function logins({ callApi }: RunningService, password: string, names = ['Carol', 'carol', 'CAROL']) {
  const statuses: number[] = []
  for (const name of names) {
    const data = { credentials: md5(`${name}:${password}`), account_realm: 'parent.example.com' }
    statuses.push((await callApi('PUT', '/v2/user_auth', { data })).status)
  }
  return statuses
}

it('a user who is created over HTTP logs in with the user name as typed, and in lower case', async () => {
  const service = await startService()
  const { callApi } = service
  const data = { ...NAMES, username: 'Carol', password: 'pw1' }
  const created = await callApi('PUT', '/v2/accounts/parent/users', { data })
  expect([created.status, created.json.data.username]).toEqual([201, 'carol'])
  expect(await logins(service, 'pw1')).toEqual([201, 201, 401])
  const url = `/v2/accounts/parent/users/${created.json.data.id}`

  // A client sends the name as it has read it.
  for (const [method, password, change] of [
    ['PATCH', 'pw2', {}],
    ['PATCH', 'pw3', { username: 'carol' }],
    ['POST', 'pw4', { ...NAMES, username: 'carol' }],
  ] as const) {
    const changed = await callApi(method, url, { data: { ...change, password } })
    expect([changed.status, changed.json.data.username]).toEqual([200, 'carol'])
    expect(await logins(service, password)).toEqual([201, 201, 401])
  }

  const respelt = await callApi('PATCH', url, { data: { username: 'CAROL', password: 'pw5' } })
  expect([respelt.status, respelt.json.data.username]).toEqual([200, 'carol'])
  expect(await logins(service, 'pw5')).toEqual([401, 201, 201])

  const renamed = await callApi('PATCH', url, { data: { username: 'Dora', password: 'pw6' } })
  expect([renamed.status, renamed.json.data.username]).toEqual([200, 'dora'])
  expect(await logins(service, 'pw6', ['Dora', 'dora', 'Carol', 'CAROL'])).toEqual([201, 201, 401, 401])

  const taken = await callApi('PUT', '/v2/accounts/parent/users', { data: { ...data, username: 'DORA' } })
  expect([taken.status, taken.json.data.username.unique.cause]).toEqual([400, 'dora'])
})

it('the response of a login names the reseller that the account shows', async () => {
  const { hs, callApi } = await startService()
  await hs.accounts.create({
    id: 'sub',
    name: 'Sub',
    realm: 'sub.example.com',
    parentId: 'child',
    apiKey: 's'.repeat(64),
  })
  await hs.accounts.update('other', { resellerId: 'parent' })
  const resellers: unknown[] = []
  for (const [id, key] of Object.entries({ parent: 'k', child: 'c', sub: 's', other: 'o' })) {
    const login = await callApi('PUT', '/v2/api_auth', { data: { api_key: key.repeat(64) } })
    const account = await callApi('GET', `/v2/accounts/${id}`, { token: login.json.auth_token })
    expect(login.json.data.reseller_id).toBe(account.json.data.reseller_id)
    resellers.push(login.json.data.reseller_id)
  }
  expect(resellers).toEqual([undefined, 'parent', 'parent', 'parent'])

  await hs.accounts.update('child', { isReseller: true })
  const login = await callApi('PUT', '/v2/api_auth', { data: { api_key: 's'.repeat(64) } })
  expect(login.json.data.reseller_id).toBe('child')
})
