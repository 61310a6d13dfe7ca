/** A real service with the built page, whose receivers really fail, and calls whose events were sent to them. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { constant, createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { publicService } from '../../../../adapters/cli/public-service.js'
import { checkPortalOptions, type PortalOptions } from '../../../../adapters/portal/options.js'
import { createPortalService } from '../../../../adapters/portal/service.js'
import { ROOT } from '../../../house/sources.js'
import { listen, type RunningServer } from '../../http/servers.js'

/** What a receiver answers: a script, a text that turns its direction, and a number that JavaScript would round. */
export const HOSTILE_BODY =
  '{"error":"<img src=x onerror=alert(1)><script>alert(2)</script>","name":"\u202Egnp.exe","id":12345678901234567890}'

export const PASSWORD = 'correct horse'

export interface World {
  readonly hs: Hookswitch
  /** URL of the page. */
  readonly url: string
  readonly apiKey: string
  /** API key of an account beside that of the others, `beta`, which is no operator. */
  readonly betaKey: string
  /** The webhook whose receiver answers. */
  readonly goodId: string
  /** The webhook whose receiver answers 500 with a hostile body. */
  readonly badId: string
  readonly callId: string
  /** Sends the events of a call and waits until the good receiver has them. */
  makeCall(callId: string): Promise<void>
  /** Makes calls until the bad webhook is paused: its receiver rejects ten deliveries in a row. */
  pauseBad(): Promise<void>
  /** From now on the bad receiver answers 204. */
  repair(): void
  close(): Promise<void>
}

export const CALL_ID = 'leg/7f3a?<b>@192.0.2.10'

/** @param options of the page */
export async function startWorld(options: PortalOptions = {}): Promise<World> {
  let isRepaired = false
  const receivers = await listen(
    http.createServer((request, response) => {
      if (request.url === '/bad' && !isRepaired) answer(request, response, 500, HOSTILE_BODY)
      else answer(request, response, 204)
    }),
  )
  const hs = createHookswitch({
    store: memoryStore(),
    allowLocal: true,
    operators: ['acme'],
    retryPolicy: constant(100),
  })
  await hs.start()
  const account = { id: 'acme', name: 'Acme', realm: 'acme.example' }
  const users = [
    { username: 'alice', password: PASSWORD },
    { username: 'bob', password: PASSWORD, privLevel: 'user' as const },
  ]
  const { apiKey } = await hs.accounts.create({ ...account, users })
  await hs.accounts.create({ id: 'branch', name: 'Acme Branch', realm: 'branch.example', parentId: 'acme' })
  const beta = await hs.accounts.create({ id: 'beta', name: 'Beta', realm: 'beta.example' })
  const at = (path: string) => `http://127.0.0.1:${receivers.port}${path}`
  const good = await hs.webhooks.create('acme', { name: 'Dashboard', uri: at('/good'), hook: 'all' })
  const bad = await hs.webhooks.create('acme', {
    name: 'CRM <b>popup</b>',
    uri: at('/bad'),
    hook: 'all',
    retries: 1,
    ordering: 'none',
  })
  const server = await startServer(hs, options)
  const world: World = {
    hs,
    url: `http://127.0.0.1:${server.port}/portal/`,
    apiKey: apiKey!,
    betaKey: beta.apiKey!,
    goodId: good.id,
    badId: bad.id,
    callId: CALL_ID,
    async makeCall(callId) {
      const hooks = ['channel_create', 'channel_answer', 'channel_destroy'] as const
      const wanted = new Set<string>(hooks)
      const delivered = new Promise<void>((resolve) => {
        const onDelivered = (event: {
          readonly webhookId: string
          readonly hook: string
          readonly callId?: string
        }) => {
          if (event.webhookId !== good.id || event.callId !== callId) return
          wanted.delete(event.hook)
          if (wanted.size > 0) return
          hs.events.off('delivered', onDelivered)
          resolve()
        }
        hs.events.on('delivered', onDelivered)
      })
      const parties = { from: '+12025550123@carrier.example', to: '1001@acme.example' }
      for (const hook of hooks) {
        await hs.publish({ hook, accountId: 'acme', callId, direction: 'inbound', ...parties })
      }
      await delivered
    },
    async pauseBad() {
      const isPaused = async () => (await hs.webhooks.read('acme', bad.id)).health.state === 'paused'
      for (let call = 1; !(await isPaused()); call += 1) {
        await world.makeCall(`rejected-${call}`)
        await setTimeout(300)
      }
    },
    repair() {
      isRepaired = true
    },
    async close() {
      await server.close()
      await hs.close()
      await receivers.close()
    },
  }
  await world.makeCall(CALL_ID)
  return world
}

function startServer(hs: Hookswitch, options: PortalOptions): Promise<RunningServer> {
  const page = createPortalService(checkPortalOptions(options), join(ROOT, 'dist', 'portal'))
  return listen(createServer(publicService(hs, page)))
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, body?: string): void {
  request.resume().on('end', () => {
    response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' }).end(body)
  })
}
