/** Names that every object inherits, in documents and events: `__proto__` is refused by name, the others are data. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { readAccountsFile } from '../../adapters/cli/accounts-file.js'
import { readConfigFile } from '../../adapters/cli/config-file.js'
import { nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

/** Properties that a value of one of these names would add to every object, if it were assigned. */
const POLLUTION = { polluted: true, enabled: false, admin: true }
const VALUES = ['"x"', 'null', '[]', JSON.stringify(POLLUTION)]
const INHERITED = ['constructor', 'prototype', 'toString', 'hasOwnProperty']

afterEach(() => {
  for (const name of Object.keys(POLLUTION)) expect(({} as Record<string, unknown>)[name]).toBeUndefined()
})

const EVENT = '"hook":"channel_create","call_id":"c"'
const WEBHOOK = '"name":"n","uri":"https://hooks.example.com/","hook":"all"'

/** Every route that takes a document, with a document in which a member can be put at %. */
const DOORS: readonly (readonly [method: string, path: string, document: string, field: string])[] = [
  ['PUT', '/accounts/parent/events', `{${EVENT},%}`, '%'],
  ['PUT', '/accounts/parent/events', `[{${EVENT}},{${EVENT},%}]`, '1.%'],
  ['PUT', '/accounts/parent/events', `{${EVENT},"custom_channel_vars":{%}}`, 'custom_channel_vars.%'],
  [
    'PUT',
    '/accounts/parent/events',
    `{${EVENT},"custom_application_vars":{"a":[{%}]}}`,
    'custom_application_vars.a.0.%',
  ],
  ['PUT', '/accounts/parent/events', '{"hook":"ticket","call_id":"c","data":{"a":{%}}}', 'data.a.%'],
  ['PUT', '/accounts/parent/events/match', `{${EVENT},%}`, '%'],
  ['PUT', '/accounts/parent/webhooks', `{${WEBHOOK},%}`, '%'],
  ['PUT', '/accounts/parent/webhooks', `{${WEBHOOK},"custom_data":{%}}`, 'custom_data.%'],
  [
    'PUT',
    '/accounts/parent/webhooks',
    `{${WEBHOOK},"custom_request_headers":{%}}`,
    'custom_request_headers.%',
  ],
  ['PUT', '/accounts/parent/webhooks', `{${WEBHOOK},"filter":{"exact":{%}}}`, 'filter.exact.%'],
  ['PUT', '/accounts/parent/webhooks', `{${WEBHOOK},"own":{%}}`, 'own.%'],
  ['POST', '/accounts/parent/webhooks/{id}', `{${WEBHOOK},%}`, '%'],
  ['PATCH', '/accounts/parent/webhooks/{id}', '{%}', '%'],
  ['PATCH', '/accounts/parent/webhooks/{id}', '{"custom_data":{%}}', 'custom_data.%'],
  ['PUT', '/accounts/parent', '{"name":"New",%}', '%'],
  ['PATCH', '/accounts/parent', '{"own":{%}}', 'own.%'],
  ['PUT', '/accounts/parent/users', '{"first_name":"a","last_name":"b",%}', '%'],
  ['PATCH', '/accounts/parent/users/ada', '{"own":{%}}', 'own.%'],
]

describe('the name __proto__', () => {
  const options = {
    ingest: true,
    hooks: [
      {
        id: 'ticket',
        name: 'Ticket',
        description: 'A ticket',
        sample: { hook: 'ticket', accountId: 'a', callId: 'c', data: {} },
      },
    ],
  }

  it.each(DOORS)('is 400 in %s %s %s', async (method, path, document, field) => {
    const { callApi, createWebhook } = await startService(options)
    const id = await createWebhook('/hook')
    for (const value of VALUES) {
      const body = `{"data":${document.replace('%', `"__proto__":${value}`)}}`
      const { status, json } = await callApi(method, `/v2${path.replace('{id}', id)}`, { body })
      expect([status, Object.keys(json.data)], body).toEqual([400, [field.replace('%', '__proto__')]])
    }
  })

  it('beside the document is ignored, as every unknown key there', async () => {
    const { callApi } = await startService(options)
    const body = `{"data":{${EVENT}},"__proto__":{"verb":"DELETE","data":{}}}`
    expect((await callApi('PUT', '/v2/accounts/parent/events', { body })).status).toBe(202)
  })

  const LIBRARY: readonly (readonly [name: string, members: string, field: string])[] = [
    ['an event', '%', '__proto__'],
    ['variables', '"customChannelVars":{%}', 'customChannelVars.__proto__'],
    ['nested variables', '"customApplicationVars":{"a":[{%}]}', 'customApplicationVars.a.0.__proto__'],
  ]
  it.each(LIBRARY)('is an error of publish in %s', async (_, members, field) => {
    const { hs } = await startService(options)
    for (const value of VALUES) {
      const text = members.replace('%', `"__proto__":${value}`)
      const event = JSON.parse(`{"hook":"channel_create","accountId":"parent","callId":"c",${text}}`)
      await expect(hs.publish(event)).rejects.toMatchObject({ code: 'InvalidInput', field })
    }
  })

  it('is an error of publish in the data of a custom event', async () => {
    const { hs } = await startService(options)
    const event = JSON.parse('{"hook":"ticket","accountId":"parent","callId":"c","data":{"__proto__":1}}')
    await expect(hs.publish(event)).rejects.toMatchObject({ code: 'InvalidInput', field: 'data.__proto__' })
  })

  it('is an error of documents that the host passes', async () => {
    const { hs } = await startService(options)
    const webhook = (members: string) => JSON.parse(`{${WEBHOOK},${members}}`)
    for (const [members, path] of [
      ['"__proto__":{"enabled":false}', '__proto__'],
      ['"customData":{"__proto__":"x"}', 'customData.__proto__'],
      ['"customRequestHeaders":{"__proto__":"x"}', 'customRequestHeaders.__proto__'],
      ['"extra":{"own":{"__proto__":"x"}}', 'own.__proto__'],
    ] as const) {
      const error = await hs.webhooks.create('parent', webhook(members)).catch((thrown: Error) => thrown)
      expect(error, members).toMatchObject({ code: 'InvalidInput', message: expect.stringContaining(path) })
    }
    const account = JSON.parse('{"name":"New","realm":"new.example","__proto__":{"enabled":false}}')
    await expect(hs.accounts.create(account)).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '__proto__',
    })
    const user = JSON.parse('{"username":"new","password":"p","__proto__":{"privLevel":"admin"}}')
    await expect(hs.accounts.addUser('parent', user)).rejects.toMatchObject({ code: 'InvalidInput' })
  })

  it('is an error of files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookswitch-'))
    const file = async (name: string, text: string) => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }
    try {
      const value = JSON.stringify(POLLUTION)
      for (const [name, text] of [
        ['a.json', `{"__proto__":${value}}`],
        ['b.json', `{"blackhole":{"__proto__":${value}}}`],
        ['a.yaml', `__proto__: ${value}`],
        ['b.yaml', `blackhole:\n  __proto__: ${value}`],
      ] as const)
        expect(String((await readConfigFile(await file(name, text))).problems)).toMatch(
          /__proto__: is unknown$/,
        )
      for (const text of [
        `[{"name":"n","realm":"r.example","__proto__":${value}}]`,
        `[{"name":"n","realm":"r.example","users":[{"username":"u","password":"p","__proto__":${value}}]}]`,
      ])
        await expect(readAccountsFile(await file('accounts.json', text))).rejects.toThrow(/__proto__/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('other inherited names', () => {
  it.each(INHERITED)('such as %s are no field of an event', async (name) => {
    const { hs, callApi } = await startService({ ingest: true })
    const body = `{"data":{${EVENT},"${name}":"x"}}`
    const { status, json } = await callApi('PUT', '/v2/accounts/parent/events', { body })
    expect([status, Object.keys(json.data)]).toEqual([400, [name]])
    const event = JSON.parse(`{"hook":"channel_create","accountId":"parent","callId":"c","${name}":"x"}`)
    await expect(hs.publish(event)).rejects.toMatchObject({ code: 'InvalidInput', field: name })
  })

  it.each(INHERITED)('such as %s are stored, shown and sent as data', async (name) => {
    const { hs, callApi, receiver } = await startService({ ingest: true })
    const uri = receiver.url('/hook')
    const own = { [name]: { polluted: true } }
    const data = { name: 'n', uri, hook: 'all', own, custom_data: { [name]: 'custom' } }
    const created = (await callApi('PUT', '/v2/accounts/parent/webhooks', { data })).json.data
    expect(created).toMatchObject({ own, custom_data: data.custom_data })
    const path = `/v2/accounts/parent/webhooks/${created.id}`
    const patched = await callApi('PATCH', path, { data: { own: { [name]: { more: 1 } } } })
    expect(patched.json.data.own).toEqual({ [name]: { polluted: true, more: 1 } })
    const vars = { [name]: 'variable' }
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish({ hook: 'channel_create', accountId: 'parent', callId: 'c', customChannelVars: vars })
    await delivered
    const body = JSON.parse(receiver.requests.at(-1)!.body)
    expect([body[name], body.custom_channel_vars]).toEqual(['custom', vars])
  })
})
