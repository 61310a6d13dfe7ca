/** One delivery of every class of failure, through a proxy, as the owner of the webhooks sees it. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'
import { authority, good } from './certificates.js'
import { testProxy } from './connect-proxy.js'
import { addresses, closeAfterEach, fakeResolver, later, OK, receiver } from './hostile.js'
import { secureReceiver } from './secure-receiver.js'

closeAfterEach()

it('every failure behind a proxy is recorded as what it is', async () => {
  const plain = await receiver((socket, request) => {
    if (request.includes('/silent')) return
    if (request.includes('/garbage')) socket.end('SSH-2.0-OpenSSH_9.6\r\n')
    else if (request.includes('/moved'))
      socket.end('HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n')
    else socket.write(OK)
  })
  const secure = await secureReceiver({ cert: good })
  const proxy = await testProxy((target) => {
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
  later(() => hs.close())
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
  const seen: Record<string, string | undefined> = {}
  const all = new Promise<void>((resolve) => {
    hs.events.on('attempt', ({ webhookId, clientError }) => {
      seen[names.get(webhookId)!] ??= clientError ?? 'none'
      if (Object.keys(seen).length === names.size) resolve()
    })
  })
  await hs.publish({ hook: 'channel_create', accountId: id, callId: 'c' })
  await all
  expect(seen).toEqual(Object.fromEntries(Object.keys(uris).map((name) => [name, name])))
  expect(proxy.targets.some((target) => target.startsWith('10.'))).toBe(false)
})
