/** A call and an event that many webhooks want; the answers that need them are given here, in the form of the API. */
import { describe, expect } from 'vitest'
import { CHROMIUM } from './browser.js'
import { signedInTest as it, type PageFixtures } from './page-test.js'

const ids = Array.from({ length: 300 }, (_, index) => `w${index}`)

describe.skipIf(CHROMIUM === undefined)('what many webhooks want', () => {
  const callOf = (webhookIds: readonly string[]) => ({
    call_id: 'busy',
    legs: [{ call_id: 'busy' }],
    events: [
      {
        id: 'e1',
        call_id: 'busy',
        hook: 'channel_create',
        sequence: 1,
        timestamp: 63_937_000_000,
        happened_at: '2026-01-31T02:31:07.000Z',
        deliveries: webhookIds.map((id) => ({
          id: `d${id}`,
          hook_id: id,
          hook_name: `Name of ${id}`,
          state: id === 'w299' ? 'exhausted' : 'delivered',
        })),
      },
    ],
    unwanted: [],
    records: 'all',
    truncated: false,
  })
  const openCall = async (
    { answer, open, page }: Pick<PageFixtures, 'answer' | 'open' | 'page'>,
    webhookIds: readonly string[],
  ) => {
    await answer('**/calls/busy', callOf(webhookIds))
    await answer('**/calls/busy/attempts?*', [])
    await open('calls/busy')
    await page.locator('.rung').getByText('Call started').waitFor()
  }

  it('is shown a part at a time, what lacks a delivery first, under the names of its webhooks', async ({
    page,
    open,
    answer,
  }) => {
    await openCall({ answer, open, page }, ids)
    const ladder = page.getByRole('region', { name: 'Ladder of the call' })
    const columns = ladder.locator('.names a')
    expect(await columns.count()).toBe(50)
    expect(await columns.first().innerText()).toBe('Name of w299')
    expect(await ladder.locator('.hit').count()).toBe(50)
    await page.getByText('50 of 300 are shown.').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => columns.nth(99).innerText()).toBe('Name of w98')
  })

  it('does not widen the page beyond the ladder', async ({ page, open, answer }) => {
    await openCall({ answer, open, page }, ids.slice(0, 7))
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1_280)
  })

  it('is listed a hundred webhooks at a time, those that are paused first, and an event that does not exist is called so', async ({
    page,
    open,
    answer,
  }) => {
    await answer(
      '**/events/match',
      ids.map((id) => ({ id, name: `Name of ${id}`, wanted: true })),
    )
    await page.route('**/webhooks/health?*', (route) => {
      const isPaused = route.request().url().includes('state=paused')
      const paused = { id: 'w3', name: 'Name of w3', uri: 'http://x/', state: 'paused' }
      return route.fulfill({ json: { data: isPaused ? [paused] : [], status: 'success' } })
    })
    await open('match?kind=channel_create')
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(100)
    // What does not get the event now comes first.
    expect(await rows.first().innerText()).toMatch(/^Name of w3\s+Is sent\s+Paused\s+Events wait/)
    expect(await rows.nth(1).innerText()).toMatch(/^Name of w0\s+Is sent\s+See what it was sent$/)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(200)
    await open('match?kind=no_such_event')
    await page.getByText('There is no event no_such_event').waitFor()
    expect(await rows.count()).toBe(0)
  })
})
