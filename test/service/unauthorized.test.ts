/** All authentication failures get the same response, byte for byte, whatever the cause. */
import { createHash } from 'node:crypto'
import { manualClock } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import type { ApiResponse } from './api-client.js'
import { API_KEY, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const SAME = { 'x-request-id': 'the same' }
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/** Status, headers and body, without the date that Node adds. */
const bytes = ({ status, headers, text }: ApiResponse) => {
  const { date: _, ...rest } = headers
  return { status, headers: rest, text }
}

it('an invalid token gets the same response for every cause', async () => {
  const clock = manualClock()
  const { hs, callApi } = await startService({ clock, tokenTtlSeconds: 3600 })
  const signIn = async (login: Parameters<typeof hs.auth.signIn>[0]) => (await hs.auth.signIn(login)).token
  const user = { credentials: md5('Ada:lovelace'), realm: 'parent.example.com' }

  const expired = await signIn({ apiKey: API_KEY })
  await clock.advance(3_600_000)
  const revoked = await signIn({ apiKey: API_KEY })
  await hs.auth.signOut(revoked)
  const afterPasswordChange = await signIn(user)
  await hs.accounts.setPassword('parent', 'ada', 'another password')
  const afterUserRemoval = await signIn({ ...user, credentials: md5('Ada:another password') })
  await hs.accounts.removeUser('parent', 'ada')
  const afterKeyRotation = await signIn({ apiKey: API_KEY })
  await hs.accounts.rotateApiKey('parent')
  const afterAccountDisabled = await signIn({ apiKey: 'c'.repeat(64) })
  await hs.accounts.update('child', { enabled: false })
  const afterAccountRemoval = await signIn({ apiKey: 'o'.repeat(64) })
  await hs.accounts.remove('other')

  const tokens = {
    expired,
    revoked,
    afterPasswordChange,
    afterUserRemoval,
    afterKeyRotation,
    afterAccountDisabled,
    afterAccountRemoval,
    unknown: 'x'.repeat(43),
    short: 'x',
    long: 'y'.repeat(5000),
    undefined: 'undefined',
  }
  const PATH = '/v1/accounts/parent/webhooks'
  const expected = bytes(await callApi('GET', PATH, { token: '', headers: SAME }))
  expect(expected.status).toBe(401)
  expect(JSON.parse(expected.text)).not.toHaveProperty('auth_token')
  for (const [cause, token] of Object.entries(tokens)) {
    expect(bytes(await callApi('GET', PATH, { token, headers: SAME })), cause).toEqual(expected)
    const bearer = { ...SAME, authorization: `Bearer ${token}` }
    expect(
      bytes(await callApi('GET', PATH, { token: '', headers: bearer })),
      `${cause}, as bearer token`,
    ).toEqual(expected)
    expect(
      bytes(await callApi('GET', `${PATH}?auth_token=${token}`, { token: '', headers: SAME })),
      `${cause}, in the query`,
    ).toEqual(expected)
  }
  for (const [method, path] of [
    ['GET', '/v1/accounts/other/webhooks'],
    ['GET', '/v1/accounts/unknown/calls/x/attempts'],
    ['DELETE', '/v1/token_auth'],
    ['PUT', PATH],
    ['POST', `${PATH}/unknown`],
  ] as const)
    expect(bytes(await callApi(method, path, { token: revoked, headers: SAME })), path).toEqual(expected)
})

it('a failed login gets the same response whichever part is wrong', async () => {
  const { hs, callApi } = await startService({ clock: manualClock(), loginBurst: 1000 })
  await hs.accounts.addUser('child', { username: 'bob', password: 'builder' })
  await hs.accounts.update('child', { enabled: false })
  const credentials = md5('Ada:lovelace')
  const account_realm = 'parent.example.com'
  const logins: readonly (readonly [string, object])[] = [
    ['api_auth', { api_key: 'x'.repeat(64) }],
    ['api_auth', { api_key: '' }],
    ['api_auth', { api_key: `${API_KEY} ` }],
    ['api_auth', { api_key: API_KEY.toUpperCase() }],
    ['api_auth', { api_key: 'x'.repeat(10_000) }],
    ['api_auth', { api_key: 'ü\u0001' }],
    ['user_auth', { credentials: md5('Ada:wrong'), account_realm }],
    ['user_auth', { credentials: md5('unknown:lovelace'), account_realm }],
    ['user_auth', { credentials, account_realm: 'other.example.com' }],
    ['user_auth', { credentials, account_realm: 'nowhere.example.com' }],
    ['user_auth', { credentials, account_name: 'Unknown' }],
    ['user_auth', { credentials, account_realm: '' }],
    ['user_auth', { credentials: '', account_realm }],
    ['user_auth', { credentials: 'Ada:lovelace', account_realm }],
    ['user_auth', { credentials: credentials.slice(1), account_realm }],
    ['user_auth', { credentials, account_realm, method: 'sha' }],
    ['user_auth', { credentials: md5('bob:wrong'), account_realm: 'child.example.com' }],
    ['user_auth', { credentials: md5('Ada:lovelace'), account_realm: 'child.example.com' }],
  ]
  const expected = bytes(await callApi('PUT', '/v1/api_auth', { data: { api_key: 'nope' }, headers: SAME }))
  expect([expected.status, expected.headers['cache-control']]).toEqual([401, 'no-store'])
  for (const [route, data] of logins) {
    const response = await callApi('PUT', `/v1/${route}`, { data, headers: SAME })
    expect(bytes(response), `${route} ${JSON.stringify(data).slice(0, 100)}`).toEqual(expected)
  }
  const valid = await callApi('PUT', '/v1/user_auth', { data: { credentials, account_realm } })
  expect(valid.status).toBe(201)
})
