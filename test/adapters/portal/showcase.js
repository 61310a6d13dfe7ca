/**
 * A service for pictures of the page: two days of calls in virtual time, and receivers in every state. Its addresses and
 * numbers are those that documents may use (RFC 2606, 5737), and nothing is sent anywhere.
 */
import { once } from 'node:events'
import http from 'node:http'
import { createHookswitch, memoryStore } from 'hookswitch'
import { nodeHandler } from 'hookswitch/node'
import { portal } from 'hookswitch/portal'
import { manualClock, seededRandom } from 'hookswitch/testkit'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
export const PASSWORD = 'not a real one'

/** Webhooks of the account `lindqvist`: name, path, events, and the answer by the time since the story began. */
const WEBHOOKS = [
  ['crm', 'CRM screen pop', 'https://crm.lindqvist.example/hooks/calls', 'all'],
  ['billing', 'Call billing', 'https://billing.lindqvist.example/cdr', 'channel_destroy'],
  ['orders', 'Order desk', 'https://orders.lindqvist.example/telephony', 'all'],
  ['pbx', 'Old PBX bridge', 'https://pbx-old.lindqvist.example/in', 'channel_create'],
  ['desk', 'Helpdesk tickets', 'https://desk.lindqvist.example/api/telephony', 'channel_answer'],
  ['sms', 'Missed-call texts', 'https://sms.lindqvist.example/v1/missed', 'channel_destroy'],
  ['archive', 'Recording archive', 'https://archive.lindqvist.example/recordings', 'channel_destroy'],
  ['wall', 'Wallboard', 'https://wall.lindqvist.example/events', 'all'],
  ['staging', 'Staging', 'https://staging.lindqvist.example/hooks', 'voicemail_new'],
]

const ok = (status) => ({
  kind: 'response',
  status,
  headers: ['server', 'nginx'],
  body: '',
  bodyEnd: 'complete',
})
const json = (status, value, headers = []) => ({
  kind: 'response',
  status,
  headers: ['content-type', 'application/json', 'server', 'nginx', ...headers],
  body: JSON.stringify(value),
  bodyEnd: 'complete',
})
const silent = {
  kind: 'no_response',
  failure: 'timeout',
  detail: 'no answer within 10 s',
  cause: 'timeout_answer',
}
const expired = {
  kind: 'no_response',
  failure: 'tls',
  detail: 'certificate has expired',
  cause: 'certificate_expired',
  isSent: false,
}

const POOL = {
  error: 'connection pool exhausted',
  detail: 'could not obtain a database connection within 800 ms',
}

/** Milliseconds of an answer, and the answer, by host and hours before the end of the story. */
function answerOf(host, hoursLeft, isDestroyed) {
  switch (host) {
    case 'crm.lindqvist.example':
      return hoursLeft < 2.3 ? [812, json(503, POOL)] : [39, ok(204)]
    case 'billing.lindqvist.example':
      if (hoursLeft < 0.05) return [18, json(429, { error: 'too many requests' }, ['retry-after', '480'])]
      return [24, ok(200)]
    case 'orders.lindqvist.example':
      return hoursLeft < 1.2 ? [31, json(404, { error: 'no route', path: '/telephony' })] : [28, ok(200)]
    case 'pbx-old.lindqvist.example':
      return [12, ok(410)]
    case 'hooks.balticfreight.example':
      return hoursLeft < 0.7 ? [10_000, silent] : [61, ok(200)]
    case 'cti.medica.example':
      return hoursLeft < 14.5 ? [22, expired] : [35, ok(200)]
    case 'sms.lindqvist.example':
      return [40, ok(isDestroyed ? 202 : 200)]
    default:
      return [44, ok(204)]
  }
}

const CALLERS = [
  '+46705550123',
  '+4685550177',
  '+493055501420',
  '+12125550119',
  '+442079460991',
  '+493055501510',
]
const PEOPLE = [
  ['2031', 'Mia'],
  ['2014', 'Ola'],
  ['2001', 'Front desk'],
  ['2100', 'Sales'],
]

/**
 * @param options of the page
 * @returns the service after its two days, from where its time goes on as fast as that of the machine
 */
export async function startShowcase(options = {}) {
  const endMs = Date.now()
  const clock = manualClock({ nowMs: endMs - 26 * HOUR })
  const random = seededRandom('showcase')
  const hs = createHookswitch({
    store: memoryStore(),
    operators: ['northbell'],
    clock,
    sender: {
      async send({ url, body }) {
        const [tookMs, observation] = answerOf(
          new URL(url).host,
          (endMs - clock.now()) / HOUR,
          body?.includes('destroy') ?? false,
        )
        await clock.sleep(Math.round(tookMs * (0.8 + 0.4 * random.fraction())))
        return observation
      },
      async close() {},
    },
  })
  await hs.start()
  const create = (id, name, parentId, users = []) =>
    hs.accounts.create({ id, name, realm: `${id}.northbell.example`, ...(parentId && { parentId }), users })
  await create('northbell', 'Northbell', undefined, [
    { username: 'operator', password: PASSWORD, firstName: 'Otto', lastName: 'Persson' },
  ])
  await create('lindqvist', 'Lindqvist Logistics', 'northbell', [
    { username: 'alma', password: PASSWORD, firstName: 'Alma', lastName: 'Lindqvist' },
  ])
  await create('lindqvist-malmo', 'Lindqvist Malmö', 'lindqvist')
  await create('baltic', 'Baltic Freight AS', 'northbell')
  await create('medica', 'Medica Call Centre', 'northbell')
  await create('hansen', 'Hansen & Partner', 'northbell', [{ username: 'kim', password: PASSWORD }])
  const ids = {}
  for (const [key, name, uri, hook] of WEBHOOKS) {
    const group = ['desk', 'sms'].includes(key) ? { group: 'Support' } : {}
    const { id } = await hs.webhooks.create('lindqvist', { name, uri, hook, retries: 2, ...group })
    ids[key] = id
  }
  const elsewhere = [
    ['baltic', 'Events to warehouse', 'https://hooks.balticfreight.example/in'],
    ['medica', 'Agent desktop', 'https://cti.medica.example/events'],
  ]
  for (const [account, name, uri] of elsewhere) {
    ids[account] = (await hs.webhooks.create(account, { name, uri, hook: 'all' })).id
  }
  for (let step = 0; clock.now() < endMs - MINUTE; step += 1) {
    const hour = new Date(clock.now()).getHours()
    const isBusy = hour >= 7 && hour < 19
    const isEnd = clock.now() > endMs - 3 * HOUR
    if (isBusy || isEnd || step % 6 === 0) await makeCall(hs, 'lindqvist', random, clock)
    if (step % 3 === 0) await makeCall(hs, step % 2 ? 'baltic' : 'medica', random, clock)
    await clock.advance(Math.min(4 * MINUTE, Math.max(1, endMs - MINUTE - clock.now())))
  }
  const callId = await makeCall(hs, 'lindqvist', random, clock, 'f3a97c1e-4b')
  const [original] = await hs.webhooks.deliveries('lindqvist', ids.orders, { states: ['exhausted'] })
  await clock.advance(MINUTE)

  // From here on, time passes by itself.
  let advancing = Promise.resolve()
  const timer = setInterval(() => {
    advancing = advancing.then(() => clock.advance(Math.max(0, Date.now() - clock.now())))
  }, 250)
  const [api, page] = [nodeHandler(hs), nodeHandler(portal(options))]
  const server = http.createServer((request, response) =>
    api(request, response, () => page(request, response)),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    hs,
    ids,
    callId,
    originalId: original?.id,
    url: `http://127.0.0.1:${server.address().port}/portal/`,
    makeCall: () => makeCall(hs, 'lindqvist', random, clock),
    async close() {
      clearInterval(timer)
      await advancing
      server.closeAllConnections()
      server.close()
      const closed = hs.close()
      for (let step = 0; step < 20; step += 1) await clock.advance(1_000)
      await closed
    },
  }
}

let calls = 0

/** A call of two legs, whose events are published as they happen. */
async function makeCall(hs, accountId, random, clock, givenId) {
  calls += 1
  const callId = givenId ?? `call-${calls}`
  const pickOf = (list) => list[Math.floor(random.fraction() * list.length)]
  const [extension, name] = pickOf(PEOPLE)
  const realm = `${accountId}.northbell.example`
  const caller = pickOf(CALLERS)
  const inbound = {
    callId,
    from: `${caller}@carrier.example`,
    to: `${extension}@${realm}`,
    direction: 'inbound',
    callerIdNumber: caller,
    calleeIdName: name,
  }
  const publish = (hook, event) => hs.publish({ hook, accountId, ...event })
  await publish('channel_create', inbound)
  await clock.advance(3_100)
  if (random.fraction() < 0.8) {
    await publish('channel_answer', inbound)
    await clock.advance(20_000 + random.fraction() * 30_000)
  }
  await publish('channel_destroy', inbound)
  return callId
}
