/** What an owner does from the first failure to the last replay, on one page, against receivers that really fail. */
import { describe, expect } from 'vitest'
import { CHROMIUM, violations, WITHOUT_POLLING } from './browser.js'
import { signedInTest as it } from './page-test.js'

describe.skipIf(CHROMIUM === undefined)('an owner whose receiver is broken', () => {
  it('finds it, understands it, mends it, tests it, replays what was lost, and sees it delivered', async ({
    world,
    page,
    open,
    row,
    button,
  }) => {
    await page.addInitScript(WITHOUT_POLLING)
    await open('webhooks')

    // Found: it fails, and the list follows the stream. After ten rejected deliveries in a row one request is sent at a time.
    await row('CRM').getByText('Failing').waitFor()
    await world.pauseBad()
    await row('CRM').getByText('Next try').first().waitFor()
    await world.makeCall('waits')
    expect(await violations(page)).toEqual([])

    // Understood: what is wrong since when, what the server answered, and what waits.
    await row('CRM').getByRole('link').first().click()
    const shown = page.getByRole('region', { name: /^Your server has answered 500 since \d\d:\d\d today\.$/ })
    await shown.getByText(/[3-9] events wait/).waitFor()
    await shown.getByText('500 Internal Server Error').waitFor()
    const body = shown.getByRole('region', { name: 'Body of the answer' })
    expect(await body.innerText()).toContain('12345678901234567890')
    expect(await body.locator('img, script, a').count()).toBe(0)
    await shown
      .getByText('We send one waiting event.')
      .or(shown.getByText('Now', { exact: true }))
      .first()
      .waitFor()
    expect(await violations(page)).toEqual([])

    // A cause leads to the requests behind it; counts are written every ten seconds.
    const cause = page.getByRole('link', { name: /^Answered 500 Internal Server Error/ })
    await expect
      .poll(
        async () => {
          await button('7 days').click()
          await button('24 h').click()
          return cause.count()
        },
        { interval: 1_000, timeout: 60_000 },
      )
      .toBe(1)
    await page.getByRole('img', { name: /^Requests from .* delivered, \d+ failed$/ }).waitFor()
    await cause.click()
    await page.waitForURL(/activity\?view=requests&result=failure&status=500/)
    await row('500').first().waitFor()
    expect(await violations(page)).toEqual([])

    // Mended: a test ends the pause, and what waited is delivered.
    world.repair()
    await page.getByRole('link', { name: 'Overview' }).click()
    await button('Test now').click()
    await page.getByRole('heading', { name: /^Your server answers again: 204 after \d/ }).waitFor()
    await page.getByRole('heading', { level: 1 }).getByText('Working').waitFor()
    await page.getByText('Nothing waits any more.').waitFor()
    expect(await violations(page)).toEqual([])

    // Replayed: counted first, then sent, then seen delivered.
    const replay = page.getByRole('button', { name: /^Replay \d+ not delivered…$/ })
    const count = Number(/\d+/.exec(await replay.innerText())![0])
    expect(count).toBeGreaterThanOrEqual(3)
    await replay.click()
    const dialog = page.getByRole('dialog', { name: 'Replay what was not delivered' })
    await dialog.getByRole('button', { name: `Replay ${count} events` }).click()
    await page.getByText(`${count} of ${count} sent again`).waitFor()
    const replays = async () => {
      const all = await world.hs.webhooks.deliveries('acme', world.badId, { limit: 100 })
      return all.filter(({ replayOf }) => replayOf !== undefined)
    }
    await expect
      .poll(async () => (await replays()).filter(({ state }) => state === 'delivered').length)
      .toBe(count)
    await replay.waitFor({ state: 'detached' })

    // The service as its operator sees it.
    await page.getByRole('link', { name: 'Service' }).click()
    await page.getByRole('heading', { level: 1, name: 'Service' }).waitFor()
    expect(await violations(page)).toEqual([])
    await open('webhooks')
    await row('CRM').getByText('Working').waitFor()
  }, 180_000)
})
