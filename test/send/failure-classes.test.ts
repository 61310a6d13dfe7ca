/** One delivery for each class of failure, through a proxy, as recorded for the owner of the webhooks. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'
import { authority, good } from './certificates.js'
import { startProxy } from './connect-proxy.js'
import { addresses, cleanUpAfterEach, fakeResolver, OK, onCleanup, startReceiver } from './harness.js'
import { startTlsReceiver } from './secure-receiver.js'

cleanUpAfterEach()

it('every failure behind a proxy is recorded under its class', async () => {
  const plain = await startReceiver((socket, request) => {
    if (request.includes('/silent')) return
    if (request.includes('/garbage')) socket.end('SSH-2.0-OpenSSH_9.6\r\n')
    else if (request.includes('/moved'))
      socket.end('HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n')
    else socket.write(OK)
  })
  const secure = await startTlsReceiver({ cert: good })
  const proxy = await startProxy((target) => {
    if (target.startsWith('9.9.9.9')) return 'HTTP/1.1 407 Who are you\r\n\r\n'
    return target.startsWith('8.8.8.8') ? 'HTTP/1.1 504 Nobody there\r\n\r\n' : undefined
  })
  const hs = createHookswitch({
    store: memoryStore(),
    resolver: fakeResolver((name) => {
      const table: Record<string, string> = {
        'denied.test': '9.9.9.9',
        'dead.test': '8.8.8.8',
        'inner.test': '10.0.0.1',
      }
      if (name === 'none.test') return { kind: 'missing', detail: 'no such host name' }
      return addresses(table[name] ?? '192.0.43.8')
    }),
    attemptTimeoutMs: 1_500,
    proxy: `http://127.0.0.1:${proxy.port}`,
    tls: { ca: authority },
  })
  onCleanup(() => hs.close())
  await hs.start()
  const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
  const uris: Record<string, string> = {
    none: `http://open.test:${plain.port}/fine`,
    timeout: `http://open.test:${plain.port}/silent`,
    protocol: `http://open.test:${plain.port}/garbage`,
    redirect: `http://open.test:${plain.port}/moved`,
    tls: `https://wrong.test:${secure.port}/`,
    connection: 'http://dead.test/',
    dns: 'http://none.test/',
    blocked_address: `http://inner.test:${plain.port}/`,
    own_fault: 'http://denied.test/',
  }
  const names = new Map<string, string>()
  for (const [name, uri] of Object.entries(uris)) {
    names.set((await hs.webhooks.create(id, { name, uri, hook: 'all', retries: 0 })).id, name)
  }
  const clientErrors: Record<string, string | undefined> = {}
  const all = new Promise<void>((resolve) => {
    hs.events.on('attempt', ({ webhookId, clientError }) => {
      clientErrors[names.get(webhookId)!] ??= clientError ?? 'none'
      if (Object.keys(clientErrors).length === names.size) resolve()
    })
  })
  await hs.publish({ hook: 'channel_create', accountId: id, callId: 'c' })
  await all
  expect(clientErrors).toEqual(Object.fromEntries(Object.keys(uris).map((name) => [name, name])))
  expect(proxy.targets.some((target) => target.startsWith('10.'))).toBe(false)
})
