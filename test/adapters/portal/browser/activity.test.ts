/** What webhooks were sent: the activity of one, a delivery, a call, the live list, and why something was not sent. */
import http, { type ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { listen } from '../../http/servers.js'
import { CHROMIUM, expectRefusals, violations, WITHOUT_POLLING } from './browser.js'
import { signedInTest as it, type PageFixtures } from './page-test.js'

describe.skipIf(CHROMIUM === undefined)('the activity of a webhook', () => {
  const activity = (webhookId: string, query = '') => `webhooks/${webhookId}/activity${query}`

  it('has its events with their tries, under their days, and finds those of a kind and of a call', async ({
    world,
    page,
    open,
    row,
  }) => {
    await open(activity(world.badId))
    await row('Call started').getByText('Not delivered').first().waitFor()
    await row('Call started').getByText('+12025550123').first().waitFor()
    expect(await row('Call started').first().innerText()).toMatch(/2\s+500/)
    expect(await page.locator('tr.day').first().innerText()).toMatch(/^Today, \w+day \d+ \w+$/)
    await page.getByLabel('Event: ').selectOption('channel_answer')
    await row('Call started').first().waitFor({ state: 'detached' })
    await row('Answered').first().waitFor()
    expect(page.url()).toContain('kind=channel_answer')
    await page.getByRole('button', { name: 'Remove the filter: Event' }).click()
    await page.getByRole('searchbox', { name: 'ID of a call' }).fill('no-such-call')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByLabel('Time: ').selectOption('the last hour')
    await page.getByRole('button', { name: 'Remove the filter: Since' }).waitFor()
  })

  it('has the requests behind a cause, each of which leads to its exchange', async ({
    world,
    page,
    open,
    row,
  }) => {
    await open(activity(world.badId, '?result=failure&status=500'))
    await page.getByRole('button', { name: 'Requests', pressed: true }).waitFor()
    await page.getByText('Answer 500').waitFor()
    await row('Call ended').first().waitFor()
    const count = await page.locator('tbody tr:not(.day, .space)').count()
    expect(count).toBe(6)
    await row('Call ended').last().getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Call ended' }).waitFor()
    await page.getByText('try 1, ').waitFor()
    await open(activity(world.badId, '?status=404'))
    await page.getByText('Nothing matches these filters').waitFor()
    await open(activity(world.badId, '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'))
    await page.getByText('This time range ends before it begins.').waitFor()
    await page.getByRole('button', { name: 'Remove the filter: Until' }).click()
    await page.getByRole('button', { name: 'Events' }).click()
    await row('Call started').first().waitFor()
  })

  it('has keys as soon as it is seen', async ({ world, page, open }) => {
    await open('webhooks')
    await page.locator('tbody a').first().waitFor()
    await page.evaluate(`
      new MutationObserver((_, observer) => {
        if (!document.querySelector('tbody a')) return
        observer.disconnect()
        // Before the frame that shows the rows.
        requestAnimationFrame(() => dispatchEvent(new KeyboardEvent('keydown', { key: 'j' })))
      }).observe(document.querySelector('#app'), { childList: true, subtree: true })
    `)
    await page.evaluate(`location.hash = '#/acme/${activity(world.badId)}'`)
    await page.locator('tr.here').waitFor()
  })

  it('says why a request cannot be replayed whose event is still being sent', async ({
    world,
    page,
    open,
    answer,
  }) => {
    await open(activity(world.badId, '?view=requests'))
    await page.locator('tbody tr:not(.day, .space)').first().waitFor()
    let state = 'waiting'
    await page.route('**/deliveries/*', (route) =>
      route.fulfill({ json: { data: { state }, status: 'success' } }),
    )
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await page.getByText('This event is still being sent.').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    state = 'exhausted'
    await page.keyboard.press('r')
    await page.getByRole('dialog', { name: 'Replay this event' }).waitFor()
    await page.keyboard.press('Escape')
    await answer(`**/webhooks/${world.badId}/deliveries?*`, [
      {
        id: 'd1',
        hook_id: world.badId,
        hook_event: 'channel_create',
        state: 'waiting',
        attempts: 0,
        accepted_at: new Date().toISOString(),
        explanation: { code: 'due' },
      },
    ])
    await page.getByRole('button', { name: 'Events', exact: true }).click()
    const waiting = page.locator('tbody tr').filter({ hasText: 'Waiting' })
    await waiting.waitFor()
    // The notice stays for seconds.
    await page.reload()
    await waiting.waitFor()
    await page.keyboard.press('j')
    expect(await page.getByText('This event is still being sent.').count()).toBe(0)
    await page.keyboard.press('r')
    await page.getByText('This event is still being sent.').waitFor()
  })

  it('has times of the zone of the page, and an address that means the same in every zone', async ({
    world,
    page,
    open,
  }) => {
    await open(activity(world.badId))
    await page.getByLabel('Time: ').selectOption('Choose…')
    await page.getByLabel('Since').fill('2026-01-31T12:34')
    await page.keyboard.press('Tab')
    const utc = await page.evaluate<string>("new Date('2026-01-31T12:34').toISOString()")
    await expect.poll(() => new URL(page.url()).hash).toContain(`from=${encodeURIComponent(utc)}`)
    expect(await page.getByLabel('Since').inputValue()).toBe('2026-01-31T12:34')
  })

  it('names the kinds of the host in rows and filters', async ({ world, page, open, row, answer }) => {
    const hooks = [
      { id: 'channel_create', name: 'Channel Create', description: '' },
      { id: 'door_opened', name: 'Door opened', description: 'Somebody is at the door.' },
    ]
    await page.route(/\/v\d\/webhooks\?/, (route) =>
      route.fulfill({ json: { data: hooks, status: 'success', page_size: 2 } }),
    )
    await answer(`**/webhooks/${world.badId}/deliveries?*`, [
      {
        id: 'd1',
        hook_id: world.badId,
        hook_event: 'door_opened',
        state: 'delivered',
        attempts: 1,
        accepted_at: new Date().toISOString(),
        explanation: { code: 'delivered', attempts: 1 },
      },
    ])
    await open(activity(world.badId))
    await row('Door opened').waitFor()
    await page.getByLabel('Event: ').selectOption('Door opened')
    expect(page.url()).toContain('kind=door_opened')
  })

  it('keeps the row that the keys have chosen when others arrive above it', async ({ world, page, open }) => {
    await open(activity(world.goodId))
    const chosen = page.locator('tr.here a').first()
    const rows = page.locator('tbody tr:not(.day, .space)')
    await rows.first().waitFor()
    await page.keyboard.press('j')
    const before = await chosen.getAttribute('href')
    const count = await rows.count()
    await world.makeCall('arrives-above')
    await expect.poll(() => rows.count()).toBe(count + 3)
    expect(await chosen.getAttribute('href')).toBe(before)
  })

  it('marks replays both ways', async ({ world, page, open, row }) => {
    await open(activity(world.goodId))
    await row('Call started').first().getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Call started' }).waitFor()
    await page.getByText('Delivered at the first try.').waitFor()
    const original = page.url()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.waitForURL((url) => !url.href.startsWith(original))
    await page.getByRole('link', { name: 'Replay', exact: true }).waitFor()
    await page.getByText('Delivered at the first try.').waitFor()
    await open(activity(world.goodId))
    await row('replayed, arrived').waitFor()
    await page.getByRole('link', { name: 'Replay', exact: true }).click()
    await page.waitForURL(original)
    await page.getByRole('link', { name: 'replayed, arrived' }).click()
    await page.getByRole('link', { name: 'Replay', exact: true }).waitFor()
  })
})

describe.skipIf(CHROMIUM === undefined)('a delivery', () => {
  it('says in a sentence what became of it, and shows each exchange as text that harms nobody', async ({
    world,
    page,
    open,
    row,
  }) => {
    await open(`webhooks/${world.badId}/activity?kind=channel_answer`)
    await row('Answered').first().getByRole('link').first().click()
    await page.getByText('Not delivered: 2 tries failed.').waitFor()
    await page.getByText('Your server has answered 500 to both tries.').waitFor()
    await page.getByText('+12025550123').first().waitFor()
    const body = page.getByRole('region', { name: 'Body of the answer' })
    const text = await body.innerText()
    expect(text).toContain('"<img src=x onerror=alert(1)><script>alert(2)</script>"')
    expect(text).toContain('\\u{202E}gnp.exe')
    expect(text).toContain('12345678901234567890')
    expect(await body.locator('img, script, a').count()).toBe(0)
    await page.getByText('500 Internal Server Error').waitFor()
    await page.getByRole('link', { name: /^Try 1: 500/ }).click()
    await page.getByText('try 1, ').waitFor()
    await page.keyboard.press('j')
    await page.getByText('try 2, ').waitFor()
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await page.getByText('Copied.').waitFor()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(command).toMatch(/^curl -X 'POST' 'http:\/\/127\.0\.0\.1:\d+\/bad'/)
    expect(command).toContain(`"$WEBHOOK_SIGNATURE"`)
    expect(command).toContain('channel_answer')
  })

  it('whose server asks for patience says until when', async ({ world, page, open }) => {
    const receiver = await listen(
      http.createServer((request, response) => {
        request.resume().on('end', () => response.writeHead(429, { 'retry-after': '300' }).end())
      }),
    )
    const uri = `http://127.0.0.1:${receiver.port}/busy`
    const { id } = await world.hs.webhooks.create('acme', { name: 'Busy', uri, hook: 'channel_hold' })
    const deliveryId = await world.hs.webhooks.test('acme', id)
    await open(`deliveries/${deliveryId}`)
    await page.getByText('asks us to wait 5 min').waitFor()
    await page.getByText('429 Too Many Requests').waitFor()
    await world.hs.webhooks.remove('acme', id)
    await receiver.close()
  })

  it('shows the answer when it comes', async ({ world, page, open }) => {
    const held: ServerResponse[] = []
    const receiver = await listen(
      http.createServer((request, response) => held.push(request.resume() && response)),
    )
    const uri = `http://127.0.0.1:${receiver.port}/slow`
    const { id } = await world.hs.webhooks.create('acme', { name: 'Slow', uri, hook: 'channel_bridge' })
    const deliveryId = await world.hs.webhooks.test('acme', id)
    await expect.poll(() => held.length).toBe(1)
    await page.addInitScript(WITHOUT_POLLING)
    const streamed = page.waitForResponse((response) => response.url().includes('/stream?webhook_id='))
    await open(`deliveries/${deliveryId}`)
    await streamed
    await page.getByText('It is being sent now: try 1.').waitFor()
    held[0]!.writeHead(204).end()
    await page.getByText('Delivered at the first try.').waitFor()
    await receiver.close()
  })

  it('that is no longer kept says so', async ({ page, reports, open }) => {
    await open(`deliveries/${'0'.repeat(32)}`)
    await page.getByText('There are no records of this, or no longer.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expectRefusals(reports, 404)
  })
})

describe.skipIf(CHROMIUM === undefined)('a call', () => {
  const ladderOf = (page: Page) => page.getByRole('region', { name: 'Ladder of the call' })

  it('is a ladder of one row an event, and the same as text', async ({ world, page, open }) => {
    await open(`calls/${encodeURIComponent(world.callId)}`)
    await page.getByRole('heading', { name: '+12025550123 → 1001' }).waitFor()
    const ladder = ladderOf(page)
    expect(await ladder.locator('ol > li').count()).toBe(3)
    expect(await ladder.getByRole('link', { name: /^CRM <b>popup<\/b>: 500 twice$/ }).count()).toBe(3)
    expect(await ladder.getByRole('link', { name: /^Dashboard: 204/ }).count()).toBeGreaterThanOrEqual(3)
    await page.getByText('3 of 6 deliveries have not arrived, all for CRM <b>popup</b>.').waitFor()
    await page.getByRole('button', { name: 'Replay Call ended…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Clock' }).click()
    await page.getByRole('button', { name: 'Copy as text' }).click()
    await page.getByText('Copied.').waitFor()
    const text = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(text).toContain(`A = ${world.callId}`)
    expect(text).toMatch(/→ Dashboard: 204, /)
    expect(text).toMatch(/→ CRM <b>popup<\/b>: 500 twice/)
  })

  const event = (sequence: number, happenedAt: string, deliveries: readonly object[]) => ({
    id: `e${sequence}`,
    call_id: 'busy',
    hook: 'channel_create',
    sequence,
    timestamp: 63_937_000_000,
    happened_at: happenedAt,
    deliveries,
  })
  const openCall = async ({ answer, open }: Pick<PageFixtures, 'answer' | 'open'>, data: object) => {
    await answer('**/calls/busy/attempts?*', [])
    await answer('**/calls/busy', {
      call_id: 'busy',
      legs: [{ call_id: 'busy' }],
      unwanted: [],
      truncated: false,
      ...data,
    })
    await open('calls/busy')
  }

  it('has pauses, rings where nothing was sent, and says which events went nowhere', async ({
    page,
    open,
    answer,
  }) => {
    const delivery = (id: string, name: string) => ({
      id: `d${id}`,
      hook_id: id,
      hook_name: name,
      kind: 'first',
      state: 'delivered',
      attempts: 1,
      last_status: '204',
    })
    await openCall(
      { answer, open },
      {
        records: 'part',
        events: [
          event(1, '2026-01-31T02:31:07.000Z', [delivery('w1', 'One'), delivery('w2', 'Two')]),
          event(4, '2026-01-31T02:31:37.000Z', [delivery('w2', 'Two')]),
        ],
        unwanted: [
          { call_id: 'busy', sequence: 2 },
          { call_id: 'busy', sequence: 3 },
        ],
      },
    )
    const ladder = ladderOf(page)
    await ladder.getByText('30 s later').waitFor()
    await ladder.getByText('Events 2 to 3 of this leg: sent to no webhook').waitFor()
    expect(await ladder.locator('li.rung .miss').count()).toBe(1)
    await page.getByText('A part of this call is no longer kept').waitFor()
    expect(await violations(page)).toEqual([])
  })

  it('offers no replay for a webhook that was deleted', async ({ page, open, answer }) => {
    const lost = { id: 'd1', hook_id: 'w1', kind: 'first', state: 'cancelled', attempts: 0 }
    await openCall(
      { answer, open },
      { records: 'all', events: [event(1, '2026-01-31T02:31:07.000Z', [lost])] },
    )
    await page.getByText('1 of 1 deliveries has not arrived, for a deleted webhook.').waitFor()
    expect(await page.getByRole('button', { name: /^Replay/ }).count()).toBe(0)
  })

  it('whose records are gone says so', async ({ page, reports, open, answer }) => {
    await open('calls/long-ago')
    await page.getByText('There are no records of this, or no longer.').waitFor()
    expectRefusals(reports, 404)
    await openCall({ answer, open }, { records: 'none', events: [event(1, '2026-01-31T02:31:07.000Z', [])] })
    await page.getByText('Nothing of this call is kept any more').waitFor()
    expect(await ladderOf(page).count()).toBe(0)
  })
})

describe.skipIf(CHROMIUM === undefined)('the live list', () => {
  const item = (id: string, fields: object) =>
    `id: p${id}\nevent: attempt\ndata: ${JSON.stringify({
      id,
      account_id: 'acme',
      hook_event: 'channel_create',
      delivery_id: 'd',
      event_id: 'e',
      uri: 'https://crm.example/in',
      method: 'post',
      result: 'success',
      resp_status_code: '204',
      sent_at: new Date().toISOString(),
      call_id: `leg-${id}`,
      ...fields,
    })}\n\n`
  const callsOf = async (page: Page) =>
    (await page.getByRole('row').filter({ hasText: 'leg-' }).allInnerTexts()).map(
      (text) => /leg-\d/.exec(text)![0],
    )

  it('follows the stream, each item once, and goes on after a lost connection', async ({
    world,
    page,
    open,
  }) => {
    const requests: (string | undefined)[] = []
    const of = { hook_id: world.badId }
    await page.route('**/stream', (route) => {
      const last = route.request().headers()['last-event-id']
      requests.push(last)
      const failure = item('2', { ...of, result: 'failure', resp_status_code: '503' })
      const first = `retry: 50\n\n${item('1', of)}${failure}`
      const rest = `${failure}${item('3', of)}`
      // By the id, not by the count.
      const body = last === undefined ? first : last === 'p2' ? rest : ': beat\n\n'
      return route.fulfill({ contentType: 'text/event-stream', body })
    })
    await open('live')
    await expect.poll(() => callsOf(page)).toEqual(['leg-3', 'leg-2', 'leg-1'])
    const start = requests.lastIndexOf(undefined)
    expect(requests.slice(start, start + 2)).toEqual([undefined, 'p2'])
    await page.getByRole('row').filter({ hasText: '503' }).getByText('CRM <b>popup</b>').waitFor()
    await page
      .locator('.rate dl')
      .filter({ hasText: 'Failed, last minute' })
      .getByText('1', { exact: true })
      .waitFor()
    await page.getByRole('searchbox', { name: 'Number or call' }).fill('leg-2')
    await page.keyboard.press('Enter')
    await expect.poll(() => callsOf(page)).toEqual(['leg-2'])
    expect(await violations(page)).toEqual([])
  })

  it('shows the new name of a webhook that is renamed', async ({ world, page, open }) => {
    await open('live')
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await world.makeCall('before-renaming')
    await page.getByRole('row').filter({ hasText: 'Dashboard' }).first().waitFor()
    await world.hs.webhooks.patch('acme', world.goodId, { name: 'Wallboard' })
    await page.getByRole('row').filter({ hasText: 'Wallboard' }).first().waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'Dashboard' }).count()).toBe(0)
    await world.hs.webhooks.patch('acme', world.goodId, { name: 'Dashboard' })
    await page.getByRole('row').filter({ hasText: 'Dashboard' }).first().waitFor()
  })

  it('holds what arrives during a pause, and counts it', async ({ world, page, open }) => {
    await open('live')
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await world.makeCall('held')
    await page.getByRole('button', { name: /^Show \d+ new$/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(0)
    await page.getByRole('button', { name: /^Show \d+ new$/ }).click()
    await page.getByRole('row').filter({ hasText: 'Dashboard' }).first().waitFor()
    await page.getByRole('button', { name: 'Only failed' }).click()
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByText('Failed per second').waitFor()
  })
})

describe.skipIf(CHROMIUM === undefined)('the question why nothing arrived', () => {
  it('is answered for each webhook, with the place where it is mended', async ({
    world,
    page,
    open,
    row,
  }) => {
    const { id } = await world.hs.webhooks.create('acme', {
      name: 'Only holds',
      uri: 'http://127.0.0.1:9/',
      hook: 'channel_hold',
    })
    await open('match')
    await page.getByLabel('Which event should have arrived?').selectOption('Call started')
    await page.getByText(/“Call started” is sent to 2 of \d webhooks\./).waitFor()
    await row('Only holds').getByText('It does not listen to this event.').waitFor()
    await row('Dashboard').getByRole('link', { name: 'See what it was sent' }).waitFor()
    expect(await violations(page)).toEqual([])
    await row('Only holds').getByRole('link', { name: 'Change its settings' }).click()
    await page.waitForURL(new RegExp(`/webhooks/${id}/settings`))
    await open('match?kind=no_such_event')
    await page.getByText('There is no event no_such_event').waitFor()
    await open('match')
    await page.getByLabel('ID of the call').fill(world.callId)
    await page.getByRole('button', { name: 'Show the call' }).click()
    await page.getByRole('heading', { name: '+12025550123 → 1001' }).waitFor()
    await world.hs.webhooks.remove('acme', id)
  })
})
