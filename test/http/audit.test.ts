/** Audit records: who changed what, from where, without secrets. One record per operation: `openapi-live.test.ts`. */
import { describe, expect, it } from 'vitest'
import { type AuditRecord, changesOf } from '../../src/runtime/audit.js'
import { API_KEY, jsonOf, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

async function start(options: Parameters<typeof startService>[0] = {}) {
  const service = await startService({ trustProxy: ['10.0.0.0/8'], ...options })
  const records: AuditRecord[] = []
  service.hs.events.on('audit', (record) => records.push(record))
  const change = async (method: string, url: string, data?: unknown) => {
    const headers = { 'x-request-id': 'r-1', 'x-forwarded-for': '9.9.9.9, 192.0.2.7' }
    const more = { remoteAddress: '10.0.0.1' }
    const body = data === undefined ? undefined : { data }
    return service.send(method, url, { headers, body, more })
  }
  return { ...service, records, change }
}

const FROM = { by: 'api_key', byAccountId: OWN_ACCOUNT, address: '192.0.2.7', requestId: 'r-1' }

describe('an audit record', () => {
  it('says who changed which webhook from where, with the fields before and after', async () => {
    const { records, change, webhook, webhookId, webhooks } = await start()
    const patched = await change('PATCH', webhook, {
      retries: 2,
      uri: 'https://b.example.com/in?key=k',
      custom_request_headers: { 'x-key': 'topsecret' },
      filter: { exact: { from: '+15550100' } },
    })
    expect(patched.status).toBe(200)
    const ids = { accountId: OWN_ACCOUNT, webhookId }
    expect(records.splice(0)).toEqual([
      {
        action: 'patchWebhook',
        ...FROM,
        ...ids,
        before: { retries: 5, uri: 'https://receiver.example.com/' },
        after: {
          retries: 2,
          uri: 'https://b.example.com/in',
          filter: '[not shown]',
          customRequestHeaders: '[redacted]',
        },
      },
    ])
    await change('PUT', `${webhook}/secret`)
    await change('DELETE', webhook)
    const created = jsonOf(
      await change('PUT', webhooks, { name: 'N', uri: 'https://c.example.com/', hook: 'all' }),
    )
    expect(records).toMatchObject([
      { action: 'rotateSecret', ...FROM, ...ids },
      { action: 'deleteWebhook', ...FROM, ...ids, before: { name: 'Hook', retries: 2 } },
      {
        action: 'createWebhook',
        ...FROM,
        webhookId: (created.data as { id: string }).id,
        after: { name: 'N', uri: 'https://c.example.com/', hook: 'all' },
      },
    ])
    expect(records.map((record) => 'after' in record)).toEqual([false, false, true])
  })

  it('never has a secret, a digest or a number', async () => {
    const { hs, send, records, change, webhook, token } = await start()
    const account = `/v1/accounts/${OWN_ACCOUNT}`
    const user = { username: 'ada', password: 'hunter2hunter2', first_name: 'Ada', last_name: 'B' }
    const made = jsonOf(await change('PUT', `${account}/users`, user)).data as { id: string }
    await change('PATCH', `${account}/users/${made.id}`, {
      password: 'correct horse',
      email: 'ada@example.com',
    })
    const rotated = jsonOf(await change('PUT', `${account}/api_key`)).data as { api_key: string }
    const { token: fresh } = await hs.auth.signIn({ apiKey: rotated.api_key })
    const secret = (await hs.webhooks.secret(OWN_ACCOUNT, webhook.split('/').at(-1)!)).slice(6)
    const erasure = { token: fresh, body: { data: { number: '+15550100' } } }
    expect((await send('PUT', `${account}/erase`, erasure)).status).toBe(200)
    expect(records.map(({ action }) => action)).toEqual([
      'createUser',
      'patchUser',
      'rotateApiKey',
      'signInByApiKey',
      'eraseRecords',
    ])
    expect(records[1]).toMatchObject({
      userId: made.id,
      before: { password: '[redacted]' },
      after: { password: '[redacted]', email: 'ada@example.com' },
    })
    expect(records[4]).toMatchObject({ details: { of: 'number', rows: 0 } })
    const text = JSON.stringify(records)
    for (const value of [
      token,
      fresh,
      secret,
      API_KEY,
      rotated.api_key,
      'hunter2',
      'correct horse',
      '15550100',
    ])
      expect(text).not.toContain(value)
    expect(text).not.toMatch(/[0-9a-f]{40}/)
  })

  it('is written for a refused login, with the account that it named', async () => {
    const { send, records } = await start({ loginBurst: 5 })
    const login = (data: object, path: string) =>
      send('PUT', `/v1/${path}`, { token: null, body: { data }, more: { remoteAddress: '192.0.2.9' } })
    const wrong = { credentials: 'd'.repeat(32), account_realm: 'x'.repeat(300), account_name: 'Own' }
    expect((await login(wrong, 'user_auth')).status).toBe(401)
    expect((await login({ api_key: 'no' }, 'api_auth')).status).toBe(429)
    expect((await login({}, 'api_auth')).status).toBe(400)
    const from = { address: '192.0.2.9', requestId: expect.any(String) }
    expect(records).toEqual([
      {
        action: 'signInByCredentials',
        by: 'user',
        ...from,
        refused: 'InvalidCredentials',
        details: { realm: 'x'.repeat(200), accountName: 'Own' },
      },
      {
        action: 'signInByApiKey',
        by: 'api_key',
        ...from,
        refused: 'TooManyLogins',
        details: expect.anything(),
      },
    ])
  })

  it('is written for the calls of the host, and for lists of accounts that change something', async () => {
    const { hs, records, webhookId } = await start()
    const listed = [{ id: 'listed', name: 'Listed', realm: 'listed.example.com' }]
    await hs.accounts.ensure(listed)
    await hs.accounts.ensure(listed)
    await hs.webhooks.patch(OWN_ACCOUNT, webhookId, { retries: 1 })
    await expect(hs.webhooks.patch(OWN_ACCOUNT, 'nope', { retries: 1 })).rejects.toThrow()
    await hs.operator.hold({ accountId: OWN_ACCOUNT })
    // These change nothing.
    await hs.operator.hold({ accountId: OWN_ACCOUNT })
    await hs.operator.release()
    const job = { accountId: OWN_ACCOUNT, cause: 'refused', host: 'crm.example.com' } as const
    const { id: jobId } = await hs.operator.jobs.start({ action: 'resume', ...job })
    hs.setLimits({ loginBurst: 7 })
    await expect(hs.auth.signIn({ apiKey: 'no' }, { address: '192.0.2.1' })).rejects.toThrow()
    expect(records).toEqual([
      { action: 'ensureAccounts', by: 'host', details: { created: ['listed'], changed: [] } },
      { action: 'patchWebhook', by: 'host', accountId: OWN_ACCOUNT, webhookId },
      { action: 'setHold', by: 'host', accountId: OWN_ACCOUNT, details: { isHeld: true } },
      {
        action: 'startJob',
        by: 'host',
        accountId: OWN_ACCOUNT,
        details: { jobId, action: 'resume', count: 0, cause: 'refused', host: 'crm.example.com' },
      },
      { action: 'setLimits', by: 'host', before: { loginBurst: 100 }, after: { loginBurst: 7 } },
      { action: 'signInByApiKey', by: 'host', address: '192.0.2.1', refused: 'InvalidCredentials' },
    ])
  })

  it('a listener that throws changes nothing', async () => {
    const { hs, change, webhook } = await start()
    hs.events.on('audit', () => {
      throw new Error('no')
    })
    expect((await change('PATCH', webhook, { retries: 2 })).status).toBe(200)
    await hs.webhooks.patch(OWN_ACCOUNT, webhook.split('/').at(-1)!, { retries: 3 })
  })
})

describe('the changes of a document', () => {
  it('are cut, and hide what is named like a secret', () => {
    const after = { name: 'n'.repeat(300), apiKey: 'k', extra: { a: 1 }, list: ['+15550100'], enabled: false }
    expect(changesOf({ enabled: true, name: 'a', revision: 1 }, { ...after, revision: 2 })).toEqual({
      before: { enabled: true, name: 'a' },
      after: {
        name: 'n'.repeat(200),
        apiKey: '[redacted]',
        extra: '[not shown]',
        list: '[not shown]',
        enabled: false,
      },
    })
  })
})
