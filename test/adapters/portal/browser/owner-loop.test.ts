/** What an owner does from the first failure to the last replay, on one page, against receivers that really fail. */
import { describe, expect } from 'vitest'
import { CHROMIUM, logIn, violations, WITHOUT_POLLING } from './browser.js'
import { pageTest as it } from './page-test.js'

describe.skipIf(CHROMIUM === undefined)('an owner whose receiver is broken', () => {
  it('finds it, understands it, mends it, resumes it, replays what was lost, and sees it delivered', async ({
    world,
    page,
    context,
    open,
    row,
  }) => {
    await context.addInitScript(WITHOUT_POLLING)
    await logIn(page, world.url, world.apiKey)

    // Found: it fails, and since when.
    await row('CRM').getByText('failing').waitFor()
    await row('CRM')
      .getByText(/^for \d/)
      .waitFor()
    // The list follows the stream: ten rejected deliveries in a row are a pause.
    await world.pauseBad()
    await row('CRM').getByText('paused').waitFor()
    await world.makeCall('waits')
    const pending = row('CRM').getByRole('cell').nth(5)
    await expect.poll(async () => Number(await pending.innerText())).toBeGreaterThanOrEqual(3)
    expect(await violations(page)).toEqual([])

    // Understood: the attempt unfolds in its row.
    await row('CRM').getByRole('link').click()
    await page.getByRole('link', { name: 'Attempts' }).click()
    const attempt = row('500').first()
    await attempt.getByRole('button', { name: 'Request and response' }).click()
    const attempts = page.getByRole('table', { name: 'Attempts' })
    await attempts.getByText(/^POST http:.*\/bad$/).waitFor()
    const body = page.getByRole('region', { name: 'Body of the response' })
    expect(await body.innerText()).toContain('12345678901234567890')
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor()
    await attempts
      .getByText(/Gave up after 2 attempts|retr/i)
      .first()
      .waitFor()
    expect(await attempts.locator('*').count()).toBeLessThanOrEqual(600)
    expect(await violations(page)).toEqual([])
    // A probe may have put another attempt before this one.
    await page.getByRole('button', { name: 'Request and response', expanded: true }).click()
    await body.waitFor({ state: 'detached' })

    // Mended, and resumed: what waited is delivered, and the list says so by itself.
    world.repair()
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await row('CRM').getByRole('button', { name: 'Resume now' }).click()
    await page.getByText('The pause is over.').waitFor()
    await row('CRM').getByText('ok').waitFor()
    await expect.poll(() => pending.innerText()).toBe('0')

    // Replayed: counted first, then sent, then seen delivered.
    await row('CRM').getByRole('link').click()
    await page.getByRole('button', { name: 'Replay failed…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay' })
    await dialog.getByRole('button', { name: 'Count' }).click()
    const counted = await dialog.getByText(/\d+ deliver(y|ies) would be sent again/).innerText()
    const count = Number(/\d+/.exec(counted)![0])
    expect(count).toBeGreaterThanOrEqual(3)
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText(`${count} of ${count} sent again`).waitFor()
    const replays = async () => {
      const all = await world.hs.webhooks.deliveries('acme', world.badId, { limit: 100 })
      return all.filter(({ replayOf }) => replayOf !== undefined)
    }
    await expect
      .poll(async () => (await replays()).filter(({ state }) => state === 'delivered').length)
      .toBe(count)
    await open(`webhooks/${world.badId}/deliveries?state=delivered`)
    await expect.poll(() => row('replay').count()).toBe(count)

    // The plots show what happened; counts are written every ten seconds.
    await page.getByRole('link', { name: 'Health' }).click()
    await expect
      .poll(
        async () => {
          await page.getByRole('button', { name: '1 h', exact: true }).click()
          await page.getByRole('button', { name: '24 h', exact: true }).click()
          return page.getByRole('row', { name: /response 5xx \d+/ }).count()
        },
        { interval: 1_000, timeout: 60_000 },
      )
      .toBe(1)
    await page.getByRole('img', { name: 'Success rate' }).waitFor()
    expect(await violations(page)).toEqual([])

    // The service as its operator sees it.
    await page.getByRole('link', { name: 'Operator' }).click()
    await page.getByText(/0 waiting/).waitFor()
    expect(await violations(page)).toEqual([])
  }, 180_000)
})
