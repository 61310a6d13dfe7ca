/** The screen of one webhook: what is wrong with it, its figures and plots, tests, switches and replays. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, FAST_POLLING, violations } from './browser.js'
import { signedInTest as it } from './page-test.js'
import { gregorian, MINUTE_MS, pausedHealth, statsOf } from './webhook-answers.js'

const answerStats = (page: Page) =>
  page.route('**/stats?*', (route) =>
    route.fulfill({ json: { data: statsOf(route.request().url()), status: 'success' } }),
  )

describe.skipIf(CHROMIUM === undefined)('the screen of a webhook', () => {
  it('says in one sentence what is wrong, what was answered last and what happens next', async ({
    world,
    page,
    open,
    answer,
    button,
  }) => {
    await answer(`**/webhooks/${world.badId}/health`, pausedHealth(world.badId))
    await answerStats(page)
    await open(`webhooks/${world.badId}`)
    const shown = page.getByRole('region', {
      name: /^Your server has answered 503 since (\d\d:\d\d today|.+ \d\d:\d\d)\.$/,
    })
    await shown
      .getByText(/nothing has got through.* 1,284 events wait; they are sent by themselves/)
      .waitFor()
    await shown.getByText('212 events were not delivered').waitFor()
    await shown.getByText('503 Service Unavailable').waitFor()
    await shown.getByText(/after 812 ms/).waitFor()
    const body = shown.getByRole('region', { name: 'Body of the answer' })
    expect(await body.locator('.k').allInnerTexts()).toEqual(['"error"', '"id"'])
    expect(await body.innerText()).toContain('12345678901234567890')
    await shown.getByText('The same answer to the last 15 requests.').waitFor()
    await shown.getByText(/^in 9 min \d+ s$/).waitFor()
    await shown.getByText('Then about every minute').waitFor()
    await shown.getByText('The oldest event that waits becomes too old to send.').waitFor()
    expect(await shown.getByRole('button').allInnerTexts()).toEqual([
      'Test now',
      'Resume sending',
      'Replay 212 not delivered…',
      'Copy the request as curl',
    ])
    await page.getByRole('heading', { level: 1 }).getByText('Paused').waitFor()
    await button('Copy the request as curl').click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(
      `'https://crm.example/in'`,
    )
    expect(await violations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violations(page)).toEqual([])
  })

  it('plots the time around the first failure, with numbers as tables and causes as links', async ({
    world,
    page,
    open,
    answer,
    button,
  }) => {
    await answer(`**/webhooks/${world.badId}/health`, pausedHealth(world.badId))
    await answerStats(page)
    await open(`webhooks/${world.badId}`)
    await page.getByRole('heading', { name: 'Around the first failure' }).waitFor()
    const requests = page.getByRole('region', { name: 'Requests', exact: true })
    await requests.getByText(/^first failure, (.+ )?\d\d:\d\d$/).waitFor()
    await requests.getByText(/^paused since .*, one try at a time$/).waitFor()
    expect(await requests.locator('.plot .pausing, .plot .since').count()).toBe(2)
    const times = page.getByRole('region', { name: 'Answer time', exact: true })
    const line = await times.locator('.p1').getAttribute('d')
    // One line before the minute without answers and one after it.
    expect(line!.match(/M/g)).toHaveLength(2)
    await button('24 h').click()
    await page.getByRole('heading', { name: 'Over time' }).waitFor()
    await requests.getByText('per 1 h').waitFor()
    await requests.getByRole('button', { name: 'As a table' }).click()
    const table = requests.getByRole('table')
    await expect.poll(() => table.getByRole('row').count()).toBeGreaterThanOrEqual(24)
    expect(await violations(page)).toEqual([])
    const causes = page.getByRole('region', { name: 'Why requests failed' })
    const [first, second, rest] = await causes.getByRole('link').all()
    expect(await first!.innerText()).toMatch(/^Answered 503 Service Unavailable\s+\d+$/)
    expect(await first!.getAttribute('href')).toMatch(
      /\/activity\?view=requests&result=failure&status=503&from=\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.\d{3}Z$/,
    )
    expect(await second!.getAttribute('href')).toContain('result=failure&cause=timeout_answer')
    expect(await rest!.innerText()).toMatch(/^Other reasons/)
  })

  it('tests the server, and says that it answers again or what is still wrong', async ({
    world,
    page,
    open,
    button,
  }) => {
    await open(`webhooks/${world.badId}`)
    await page.getByRole('heading', { name: /^Your server has answered 500 since/ }).waitFor()
    await button('Test now').click()
    await page.getByText('The test did not arrive: 500 Internal Server Error.').waitFor()
    world.repair()
    await button('Test now').click()
    await page.getByRole('heading', { name: /^Your server answers again: 204 after \d/ }).waitFor()
    await page.getByText('Before: 500 Internal Server Error,').waitFor()
    await page.getByRole('heading', { level: 1 }).getByText('Working', { exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'Whole exchange' }).click()
    await page.waitForURL(/deliveries/)
  })

  it('says that nothing accepts connections, and that a test found that too, though nothing is sent', async ({
    world,
    page,
    open,
    button,
  }) => {
    const { id } = await world.hs.webhooks.create('acme', {
      name: 'Away',
      uri: 'http://127.0.0.1:9/in',
      hook: 'all',
      ordering: 'none',
    })
    await world.makeCall('refused')
    await expect
      .poll(async () => (await world.hs.webhooks.read('acme', id)).health.state, { timeout: 30_000 })
      .toBe('paused')
    await open(`webhooks/${id}`)
    await page
      .getByRole('heading', { name: /^Nothing has accepted connections at 127\.0\.0\.1:9 since/ })
      .waitFor()
    await page.getByText('Nothing is lost so far.').waitFor()
    await page.getByText(/^We try to connect\./).waitFor()
    await button('Test now').click()
    await page.getByText('The test did not arrive: Connection refused.').waitFor()
    await page.getByText('What we found when we last tried to connect').waitFor()
    expect(await violations(page)).toEqual([])
    await page.goto(`${world.url}#/acme/webhooks`)
    await world.hs.webhooks.remove('acme', id)
  })

  it('is switched off after a question, and on again', async ({ world, page, open, button }) => {
    await open(`webhooks/${world.goodId}`)
    await button('More: replay, switch off, delete').click()
    await button('Switch off').click()
    const question = page.getByRole('dialog', { name: 'Switch off Dashboard?' })
    await question.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('heading', { name: /^This webhook has been switched off/ }).waitFor()
    expect((await world.hs.webhooks.read('acme', world.goodId)).enabled).toBe(false)
    expect(await violations(page)).toEqual([])
    await button('Switch on').click()
    await page.getByText('The webhook is switched on.').waitFor()
    await button('Switch on').waitFor({ state: 'detached' })
    await button('Send a test').click()
    await page.getByRole('heading', { name: /^Your server answers: 204 after/ }).waitFor()
  })

  const job = {
    id: 'f'.repeat(32),
    account_id: 'acme',
    state: 'running',
    count: 1_500,
    replayed: 0,
    created_at: new Date().toISOString(),
    result: 'failure',
    include_recovered: false,
    left_out: [] as object[],
    automatic: false,
  }
  const COUNTS: Readonly<Record<string, number>> = {
    exhausted: 1_200,
    expired: 300,
    cancelled: 7,
    delivered: 9,
  }
  /** Answers for the jobs of an account, or of the service, which the page changes. */
  async function replays(
    page: Page,
    under: string,
    kept: (typeof job)[],
    bodies: Record<string, unknown>[] = [],
  ) {
    await page.route(`**${under}/replay`, (route) => {
      const { data } = route.request().postDataJSON()
      bodies.push(data)
      if (data.dry_run)
        return route.fulfill({ json: { data: { count: COUNTS[data.result]! }, status: 'success' } })
      kept.unshift({ ...job, id: `${data.result}`.padEnd(32, 'f') })
      return route.fulfill({ status: 202, json: { data: kept[0], status: 'success' } })
    })
    await page.route(`**/replays?*`, (route) => route.fulfill({ json: { data: kept, status: 'success' } }))
    await page.route(`**/replays/*`, (route) => {
      const at = kept.findIndex(({ id }) => route.request().url().endsWith(id))
      if (route.request().method() === 'POST') {
        const { data } = route.request().postDataJSON()
        kept[at] = { ...kept[at]!, ...data }
      }
      return route.fulfill({ json: { data: kept[at], status: 'success' } })
    })
  }
  const shownJobs = (page: Page) => page.getByRole('region', { name: 'Replay' })

  it('counts what a replay would send, starts it, and shows how far it is until it has ended', async ({
    world,
    page,
    open,
    answer,
    button,
  }) => {
    const kept: (typeof job)[] = []
    const bodies: Record<string, unknown>[] = []
    await page.addInitScript(FAST_POLLING)
    await replays(page, '/webhooks/*', kept, bodies)
    await answer(`**/webhooks/${world.badId}/health`, pausedHealth(world.badId))
    await open(`webhooks/${world.badId}`)
    await button('Replay 212 not delivered…').click()
    const dialog = page.getByRole('dialog', { name: 'Replay what was not delivered' })
    await dialog.getByRole('button', { name: 'Replay 1,500 events' }).waitFor()
    await dialog.getByText('They queue behind the 1,284 that wait.').waitFor()
    await dialog.getByText('(7)').waitFor()
    // A change of the selection makes the count void.
    await dialog.getByLabel('Too old').uncheck()
    await dialog.getByRole('button', { name: 'Replay 1,200 events' }).waitFor()
    await dialog.getByText('More conditions').click()
    await dialog.getByLabel('Kind of event').selectOption('channel_destroy')
    await dialog.getByLabel('Only with this reason').fill('status 500')
    expect(await dialog.getByLabel('Also what has arrived since').isChecked()).toBe(false)
    await dialog.getByRole('button', { name: 'Replay 1,200 events' }).waitFor()
    await expect.poll(() => bodies.at(-1)).toMatchObject({ hook: 'channel_destroy', reason: 'status 500' })
    expect(await violations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Replay 1,200 events' }).click()
    await shownJobs(page).getByText('0 of 1,500 sent again').waitFor()
    const sent = bodies.filter(({ dry_run }) => !dry_run)
    const selection = { result: 'exhausted', hook: 'channel_destroy', reason: 'status 500' }
    expect(sent).toEqual([{ ...selection, created_from: expect.any(Number) }])
    const from = Number(sent[0]!.created_from)
    const wanted = gregorian(Date.now() - 41 * MINUTE_MS)
    expect(wanted - from).toBeGreaterThanOrEqual(0)
    expect(wanted - from).toBeLessThan(180)
    kept[0] = { ...kept[0]!, replayed: 200 }
    await shownJobs(page).getByText('200 of 1,500 sent again').waitFor()
    await shownJobs(page).getByRole('button', { name: 'Pause' }).click()
    await shownJobs(page).getByText('Paused').waitFor()
    await shownJobs(page).getByRole('button', { name: 'Continue' }).click()
    await shownJobs(page).getByText('Running').waitFor()
    expect(await violations(page)).toEqual([])
    const leftOut = [{ webhook_id: world.goodId, reason: 'disabled' }]
    kept[0] = { ...kept[0]!, state: 'completed', replayed: 1_400, left_out: leftOut }
    await page.getByText('1,400 events are sent again.').waitFor()
    await shownJobs(page).getByText('1,400 of 1,500 sent again').waitFor()
    await shownJobs(page).getByText('1 webhook did not get everything').click()
    await shownJobs(page).getByText(`${world.goodId}: `).waitFor()
    expect(await shownJobs(page).getByRole('button').count()).toBe(0)
    // The page does not read an ended replay again.
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.waitForRequest((request) => request.url().includes('/replays?'))
    await page.waitForRequest((request) => request.url().includes('/replays?'))
    expect(asked.filter((url) => url.endsWith(kept[0]!.id))).toEqual([])
  })

  it('shows again the replays that have not ended, and of the ended ones the latest', async ({
    world,
    page,
    open,
  }) => {
    const ended = { ...job, state: 'completed', replayed: 7, count: 7 }
    const kept = [
      { ...job, id: '1'.repeat(32), webhook_id: world.badId, count: 3 },
      { ...job, id: '2'.repeat(32), automatic: true, count: 0, replayed: 40 },
      { ...ended, id: '3'.repeat(32) },
      { ...ended, id: '4'.repeat(32), replayed: 6 },
    ]
    await replays(page, '/acme', kept)
    await open(`webhooks/${world.badId}`)
    await shownJobs(page).getByText('0 of 3 sent again').waitFor()
    await shownJobs(page).getByText('40 sent again so far · to all webhooks of the account · We').waitFor()
    await shownJobs(page).getByText('7 of 7 sent again').waitFor()
    expect(await shownJobs(page).count()).toBe(3)
    const stop = shownJobs(page).first().getByRole('button', { name: 'Stop…' })
    const dialog = page.getByRole('dialog', { name: 'Stop this replay?' })
    await stop.click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(kept[0]!.state).toBe('running')
    await stop.click()
    await dialog.getByRole('button', { name: 'Stop the replay' }).click()
    await shownJobs(page).getByText('Cancelled').waitFor()
  })

  it('replays what all accounts did not get, for an operator', async ({ page, open }) => {
    const kept: (typeof job)[] = []
    const bodies: Record<string, unknown>[] = []
    await replays(page, '/system', kept, bodies)
    await open('webhooks')
    await page.getByRole('link', { name: 'Service' }).click()
    await page.getByRole('button', { name: 'Replay not delivered…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay what was not delivered' })
    await dialog.getByText('Events of all webhooks of all accounts.').waitFor()
    await dialog.getByLabel('To', { exact: true }).fill('2026-01-01T00:00')
    await dialog.getByLabel('From', { exact: true }).fill('2026-01-02T00:00')
    await dialog.getByText('This time range ends before it begins.').waitFor()
    expect(await dialog.getByRole('button', { name: /^Replay/ }).isDisabled()).toBe(true)
    await dialog.getByLabel('From', { exact: true }).fill('2025-12-31T00:00')
    await dialog.getByRole('button', { name: 'Replay 1,500 events' }).click()
    await dialog.waitFor({ state: 'detached' })
    const range = {
      created_from: gregorian(new Date(2025, 11, 31).getTime()),
      created_to: gregorian(new Date(2026, 0, 1).getTime()),
    }
    // One for each way in which deliveries ended.
    expect(bodies.filter(({ dry_run }) => !dry_run)).toEqual([
      { result: 'exhausted', ...range },
      { result: 'expired', ...range },
    ])
  })
})
