/** The screen of the whole service, for its operators. */
import { describe, expect } from 'vitest'
import { CHROMIUM, expectFit } from './browser.js'
import { signedInTest as it } from './page-test.js'

const MINUTE = 60_000
const overview = {
  pending: 18_204,
  oldest_due_seconds: 41.2,
  in_flight: 310,
  paused: { waiting: 12, probing: 3 },
  failing: 4,
  accounts_affected: 7,
  disabled: 9,
  disabled_capped: true,
  attempts_per_minute: Array.from({ length: 60 }, (_, minute) => minute),
  causes: { timeout_answer: 6_412, 503: 902, other: 5, 404: 0 },
  nodes: [
    {
      node: '3f0123456789',
      alive_until: new Date(Date.now() + 24_000).toISOString(),
      shards: 32,
      leaving: 1,
    },
  ],
  store: { durable: true, shared: true },
  version: '0.2.0',
}

const row = (index: number, more: object = {}) => ({
  account_id: 'beta',
  account_name: 'Beta',
  id: `w${index}`,
  name: `Receiver ${index}`,
  uri: `https://r${index}.example/in`,
  state: 'failing',
  failures_in_row: 3,
  failing_since: new Date(Date.now() - 135 * MINUTE).toISOString(),
  exhausted: 0,
  pending: 100 - index,
  impact: 100 - index,
  pending_capped: false,
  cause: 'timeout_answer',
  ...more,
})

describe.skipIf(CHROMIUM === undefined)('the screen of the service', () => {
  it('says first whether the fault is its own, then who fails, why and for how long', async ({
    page,
    open,
    answer,
  }) => {
    await answer('**/system/overview', overview)
    await answer('**/system/endpoints?*', [
      row(1),
      row(2, {
        cause: undefined,
        last: { resp_status_code: '503', result: 'failure' },
        pending: 1_000,
        pending_capped: true,
      }),
      row(3, { state: 'disabled', disable_reason: 'gone', cause: undefined }),
      ...Array.from({ length: 17 }, (_, index) => row(index + 4)),
    ])
    await open('webhooks')
    await page.getByRole('link', { name: 'Service' }).click()
    await page.getByRole('heading', { name: 'The service is behind. 19+ receivers are not.' }).waitFor()
    await page.getByText('An event that is due has waited 41 s, because of us. 18,204 events wait.').waitFor()
    await page.getByText('in 7 accounts').waitFor()
    const causes = page.getByRole('region', { name: 'Why requests fail' }).getByRole('listitem')
    expect(await causes.count()).toBe(3)
    expect(await causes.nth(1).innerText()).toMatch(/Answers 503\s+902/)
    await page.getByText('50 % of the work').waitFor()
    await page.getByText('Store shared between nodes, version 0.2.0').waitFor()
    const rows = page.getByRole('table', { name: 'Who is failing' }).getByRole('row')
    expect(await rows.nth(1).innerText()).toMatch(
      /Receiver 1\s+r1\.example\s+Beta\s+Failing\s+.*\s+2 h 15 min\s+99/,
    )
    expect(await rows.nth(2).innerText()).toMatch(/Answers 503[\s\S]*1,000\+/)
    expect(await rows.nth(3).innerText()).toMatch(/Switched off[\s\S]*410/)
    expect(await rows.nth(1).getByRole('link').getAttribute('href')).toBe('#/beta/webhooks/w1')
    expect(await rows.count()).toBe(1 + 8)
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => rows.count()).toBe(1 + 20)
    await expectFit(page)
    await page.getByRole('button', { name: 'As a table' }).click()
    await page.getByRole('region', { name: 'Last hour, requests a minute' }).getByRole('table').waitFor()
  })

  it('has among the failing ones those that reject what they are sent, which the service sends one event at a time', async ({
    page,
    open,
  }) => {
    const paused = (index: number, kind: string) =>
      row(index, { state: 'paused', pause: { kind, since: new Date().toISOString() } })
    const found = {
      failing: [row(2)],
      paused: [paused(1, 'rejected'), paused(3, 'unavailable')],
    }
    await page.route('**/system/endpoints?*', (route) => {
      const state = new URL(route.request().url()).searchParams.get('state')
      const data = Object.entries(found).flatMap(([name, rows]) => (state === name || !state ? rows : []))
      return route.fulfill({ json: { data, status: 'success' } })
    })
    await open('webhooks')
    await page.getByRole('link', { name: 'Service' }).click()
    const states = page.getByRole('group', { name: 'State' })
    const names = async () =>
      (await page.getByRole('row').allInnerTexts()).flatMap((text) => /Receiver \d/.exec(text) ?? [])
    await expect.poll(names).toEqual(['Receiver 2', 'Receiver 1', 'Receiver 3'])
    await states.getByRole('button', { name: 'Failing' }).click()
    // What hurts most is first.
    await expect.poll(names).toEqual(['Receiver 1', 'Receiver 2'])
    await states.getByRole('button', { name: 'Paused' }).click()
    await expect.poll(names).toEqual(['Receiver 3'])
  })

  it('says how many webhooks are concerned before it ends all pauses', async ({ page, open, answer }) => {
    await answer('**/system/overview', overview)
    await answer('**/system/endpoints?*', [])
    const sent: unknown[] = []
    await page.route('**/system/jobs', (route) => {
      const { data } = route.request().postDataJSON()
      sent.push(data)
      const counts = { webhooks: 412, accounts: 97, deliveries: 18_204 }
      return route.fulfill({ json: { data: data.dry_run ? counts : {}, status: 'success' } })
    })
    await open('webhooks')
    await page.getByRole('link', { name: 'Service' }).click()
    await page.getByRole('button', { name: 'Resume sending' }).click()
    const question = page.getByRole('dialog', { name: 'Resume sending' })
    await question.getByText('Webhooks: 412, accounts: 97, waiting events: 18,204.').waitFor()
    expect(sent).toEqual([{ action: 'resume', dry_run: true }])
    await question.getByRole('button', { name: 'Resume sending' }).click()
    await page.getByText('The pause is over: what waits is sent.').waitFor()
    expect(sent[1]).toEqual({ action: 'resume' })
  })

  it('asks for one state, and for what hurts most unless another order is chosen', async ({
    page,
    open,
    answer,
  }) => {
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/system/endpoints')) asked.push(new URL(request.url()).search)
    })
    await answer('**/system/endpoints?*', [])
    await open('webhooks')
    await page.getByRole('link', { name: 'Service' }).click()
    await page.getByText('No webhook is in this state').waitFor()
    await page.getByRole('button', { name: 'Paused' }).click()
    await expect.poll(() => asked.at(-1)).toMatch(/^(?=.*state=paused)(?=.*sort=impact)/)
    await page.getByLabel('Sort:').selectOption('id')
    await expect.poll(() => asked.at(-1)).not.toContain('sort=')
    await page.getByRole('button', { name: 'Remove the filter: Sort' }).click()
    await expect.poll(() => asked.at(-1)).toContain('sort=impact')
  })
})

describe.skipIf(CHROMIUM === undefined)('the real service', () => {
  it('lists the webhooks of all accounts that fail', async ({ page, open }) => {
    await open('webhooks')
    await page.getByRole('link', { name: 'Service' }).click()
    await page.getByRole('heading', { name: 'The service is healthy.' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'CRM <b>popup</b>' }).getByText('Failing').waitFor()
    await page.getByRole('link', { name: 'CRM <b>popup</b>' }).click()
    await page.getByRole('heading', { name: 'CRM <b>popup</b>' }).waitFor()
  })
})
