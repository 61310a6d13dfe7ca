import { describe, expect } from 'vitest'
import { CHROMIUM, expectProblems, expectRefusals, FAST_POLLING, WITHOUT_POLLING } from './browser.js'
import { signedInTest } from './page-test.js'
import type { World } from './world.js'

const it = signedInTest.extend<{ readonly follow: (hash: string) => Promise<void> }>({
  /** Opens a screen and waits for its stream. */
  follow: ({ page, open }, use) =>
    use(async (hash) => {
      await page.addInitScript(WITHOUT_POLLING)
      const streamed = page.waitForResponse((response) => response.url().includes('/stream?webhook_id='))
      await open(hash)
      await streamed
    }),
})

describe.skipIf(CHROMIUM === undefined)('without timers', () => {
  it('the screen of a webhook shows that its pause has ended well', async ({ world, page, follow }) => {
    await world.pauseBad()
    await world.makeCall('third')
    await follow(`webhooks/${world.badId}`)
    const heading = page.getByRole('heading', { level: 1 })
    await heading.getByText('Failing').waitFor()
    world.repair()
    await page.getByRole('button', { name: 'Resume sending' }).click()
    await heading.getByText('Working').waitFor()
    await page.getByRole('heading', { name: /^Your server has answered 500/ }).waitFor({ state: 'detached' })
  })

  const createShortLived = (world: World) =>
    world.hs.webhooks.create('acme', {
      name: 'Short-lived',
      uri: 'http://127.0.0.1:9/x',
      hook: 'channel_bridge',
    })

  it('the screen of a webhook says that it has been deleted, without asking for it', async ({
    world,
    page,
    follow,
  }) => {
    const { id } = await createShortLived(world)
    await follow(`webhooks/${id}/settings`)
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await world.hs.webhooks.remove('acme', id)
    await page.getByText('This webhook has been deleted.').waitFor()
    await page.getByRole('heading', { name: 'Short-lived' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('row').filter({ hasText: 'Dashboard' }).waitFor()
  })

  it('without a stream too, and asks no more once it knows', async ({ world, page, reports, open }) => {
    const { id } = await createShortLived(world)
    await page.addInitScript(FAST_POLLING)
    await page.route('**/stream?*', (route) => route.abort())
    await open(`webhooks/${id}`)
    await page.getByRole('button', { name: 'Send a test' }).waitFor()
    await world.hs.webhooks.remove('acme', id)
    await page.getByText('This webhook has been deleted.').waitFor()
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes(id)) asked++
    })
    // Several times the pause between two polls.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 600))')
    expect(asked).toBe(0)
    expectRefusals(reports, 404)
    expectProblems(reports, /\/stream\?/)
  })
})
