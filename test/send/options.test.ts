/** The service options for outgoing connections, and their effect at a receiver and a proxy. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { createHookswitch, errorCode, type HookswitchOptions, memoryStore } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { authority, good, key, selfSigned } from './certificates.js'
import { startProxy } from './connect-proxy.js'
import { addresses, cleanUpAfterEach, fakeResolver, onCleanup } from './harness.js'
import { startTlsReceiver } from './secure-receiver.js'

cleanUpAfterEach()

const SECRET = 'correct horse'
const encrypted = createPrivateKey(key).export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-128-cbc',
  passphrase: SECRET,
}) as string
const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string

const make = (options: object) => createHookswitch({ store: memoryStore(), ...options })
const sender = { send: async () => ({ kind: 'own_fault', detail: '' }) as const, close: async () => {} }

describe('an invalid connection option', () => {
  it.each<[string, object]>([
    ['tls', { tls: 5 }],
    ['tls', { tls: null }],
    ['tls.rejectUnauthorized', { tls: { rejectUnauthorized: false } }],
    ['tls.servername', { tls: { servername: 'x' } }],
    ['tls.ca', { tls: { ca: 'nonsense' } }],
    ['tls.ca', { tls: { ca: [] } }],
    ['tls.ca', { tls: { ca: [authority, 5] } }],
    ['tls.ca', { tls: { ca: key } }],
    ['tls.ca', { tls: { ca: `${authority}${authority.replace('MII', 'AAA')}` } }],
    ['tls.cert', { tls: { cert: 'nonsense', key } }],
    ['tls.cert', { tls: { key } }],
    ['tls.key', { tls: { cert: good } }],
    ['tls.key', { tls: { cert: good, key: 'hunter2' } }],
    ['tls.key', { tls: { cert: good, key: [key] } }],
    ['tls.key', { tls: { cert: good, key: otherKey } }],
    ['tls.key', { tls: { cert: good, key: encrypted } }],
    ['tls.key', { tls: { cert: good, key: encrypted, passphrase: 'hunter2' } }],
    ['tls.key', { tls: { passphrase: 'hunter2' } }],
    ['tls.passphrase', { tls: { cert: good, key: encrypted, passphrase: 5 } }],
    ['tls.minVersion', { tls: { minVersion: 'TLSv1.1' } }],
    ['tls.minVersion', { tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' } }],
    ['tls.maxVersion', { tls: { maxVersion: 3 } }],
    ['proxy', { proxy: 5 }],
    ['proxy', { proxy: '' }],
    ['proxy', { proxy: 'hunter2' }],
    ['proxy', { proxy: 'socks5://user:hunter2@proxy.example' }],
    ['proxy', { proxy: 'http://user:hunter2@proxy.example/path' }],
    ['proxy', { sender, proxy: 'http://user:hunter2@proxy.example' }],
    ['tls', { sender, tls: { ca: authority } }],
    ['resolver', { sender, resolver: fakeResolver(() => addresses()) }],
  ])("%s throws at construction with the option's name and without secrets", (field, options) => {
    try {
      make(options)
      expect.unreachable('it was accepted')
    } catch (thrown) {
      expect(errorCode(thrown)).toBe('InvalidOption')
      expect(thrown).toMatchObject({ field })
      const { message } = thrown as Error
      expect(
        [`${field} `, `createHookswitch(): unknown option '${field}'`].some((start) =>
          message.startsWith(start),
        ),
      ).toBe(true)
      expect(message).not.toMatch(/hunter2|correct horse|BEGIN|MHcC/)
    }
  })
})

describe('a valid connection option', () => {
  it.each<[string, HookswitchOptions['tls']]>([
    ['authorities as text', { ca: `${authority}\n${selfSigned}` }],
    ['authorities as a list and bytes', { ca: [authority, new Uint8Array(Buffer.from(selfSigned))] }],
    ['a certificate', { cert: good, key }],
    ['a certificate with its chain', { cert: `${good}${authority}`, key: Buffer.from(key) }],
    ['an encrypted key', { cert: good, key: encrypted, passphrase: SECRET }],
    ['versions', { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }],
    ['nothing', {}],
  ])('is accepted: %s', (_, tls) => {
    expect(() => make({ tls })).not.toThrow()
  })
})

describe('a service with a proxy, a certificate authority and a client certificate', () => {
  it('uses them for deliveries, and shows no secrets in logs, attempts or errors', async () => {
    const tlsOptions = { cert: good, ca: authority, requestCert: true, rejectUnauthorized: true }
    const { port, requests } = await startTlsReceiver(tlsOptions)
    const proxy = await startProxy((target) =>
      target.startsWith('9.9.9.9') ? 'HTTP/1.1 407 Who are you\r\n\r\n' : undefined,
    )
    const logged: unknown[] = []
    const note = (...line: unknown[]) => void logged.push(line)
    const hs = make({
      resolver: fakeResolver((name) => addresses(name === 'good.test' ? '192.0.43.8' : '9.9.9.9')),
      proxy: `http://user:hunter2@127.0.0.1:${proxy.port}`,
      tls: { ca: authority, cert: good, key: encrypted, passphrase: SECRET },
      log: { debug: note, info: note, warn: note, error: note },
    })
    onCleanup(() => hs.close())
    await hs.start()
    const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    const recorded = new Promise<unknown[]>((resolve) => {
      const attempts: unknown[] = []
      hs.events.on('attempt', (attempt) => attempts.push(attempt) === 2 && resolve(attempts))
    })
    for (const host of [`good.test:${port}`, 'denied.test']) {
      await hs.webhooks.create(id, { name: host, uri: `https://${host}/hook`, hook: 'all' })
    }
    await hs.publish({ hook: 'channel_create', accountId: id, callId: 'c' })
    const attempts = await recorded
    expect(attempts).toContainEqual(expect.objectContaining({ result: 'success', status: 200 }))
    expect(attempts).toContainEqual(expect.objectContaining({ result: 'failure', clientError: 'own_fault' }))
    expect(requests[0]).toContain(`POST /hook HTTP/1.1\r\nhost: good.test:${port}\r\n`)
    expect(proxy.targets).toContain(`192.0.43.8:${port}`)
    const shown = JSON.stringify([logged, attempts, await hs.webhooks.attempts(id)])
    const credentials = Buffer.from('user:hunter2').toString('base64')
    for (const secret of ['hunter2', SECRET, credentials, 'PRIVATE KEY', `127.0.0.1:${proxy.port}`])
      expect(shown).not.toContain(secret)
  })

  it('reports a failure when a receiver requires a missing client certificate', async () => {
    const { port, requests } = await startTlsReceiver({
      cert: good,
      ca: authority,
      requestCert: true,
      rejectUnauthorized: true,
    })
    const hs = make({ allowLocal: true, tls: { ca: authority } })
    onCleanup(() => hs.close())
    await hs.start()
    const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    await hs.webhooks.create(id, { name: 'tls', uri: `https://127.0.0.1:${port}/`, hook: 'all' })
    const recorded = new Promise((resolve) => hs.events.once('attempt', resolve))
    await hs.publish({ hook: 'channel_create', accountId: id, callId: 'c' })
    expect(await recorded).toMatchObject({
      result: 'failure',
      clientError: expect.stringMatching(/tls|connection/),
    })
    expect(requests).toEqual([])
  })
})
