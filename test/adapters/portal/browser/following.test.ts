/** Screens of one webhook and of one delivery follow the live stream: no timer of theirs runs here. */
import http, { type ServerResponse } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../../http/servers.js'
import { CHROMIUM, FAST_POLLING, launch, logIn, newPage, WITHOUT_POLLING } from './browser.js'
import { startWorld, type World } from './world.js'

describe.skipIf(CHROMIUM === undefined)('without timers', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await startWorld()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  const open = async (hash: string) => {
    const opened = await newPage(browser)
    await opened.context.addInitScript(WITHOUT_POLLING)
    await logIn(opened.page, world.url, world.apiKey)
    const streamed = opened.page.waitForResponse((response) => response.url().includes('/stream?webhook_id='))
    await opened.page.goto(`${world.url}#/acme/${hash}`)
    await streamed
    return opened
  }

  it('the screen of a webhook shows that its pause has ended well', async () => {
    await world.pauseBad()
    await world.makeCall('third')
    const { page, context, reports } = await open(`webhooks/${world.badId}/health`)
    await page.locator('.condition').getByText('paused').waitFor()
    world.repair()
    await page.getByRole('button', { name: 'Resume now' }).click()
    await page.locator('.condition').getByText(/ ok$/).waitFor()
    expect(await page.locator('.condition').innerText()).not.toContain('for')
    expect(reports.problems).toEqual([])
    await context.close()
  })

  const createShortLived = () =>
    world.hs.webhooks.create('acme', {
      name: 'Short-lived',
      uri: 'http://127.0.0.1:9/x',
      hook: 'channel_bridge',
    })

  it('the screen of a webhook says that it has been deleted, without asking for it', async () => {
    const { id } = await createShortLived()
    const { page, context, reports } = await open(`webhooks/${id}/settings`)
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await world.hs.webhooks.remove('acme', id)
    await page.getByText('This webhook has been deleted.').waitFor()
    await page.getByRole('heading', { name: 'Short-lived' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('row').filter({ hasText: 'Dashboard' }).waitFor()
    expect(reports.problems).toEqual([])
    await context.close()
  })

  it('without a stream too, and asks no more once it knows', async () => {
    const { id } = await createShortLived()
    const { page, context, reports } = await newPage(browser)
    await context.addInitScript(FAST_POLLING)
    await page.route('**/stream?*', (route) => route.abort())
    await logIn(page, world.url, world.apiKey)
    await page.goto(`${world.url}#/acme/webhooks/${id}/health`)
    await page.getByRole('button', { name: 'Delete' }).waitFor()
    await world.hs.webhooks.remove('acme', id)
    await page.getByText('This webhook has been deleted.').waitFor()
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes(id)) asked++
    })
    // Several times the pause between two polls.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 600))')
    expect(asked).toBe(0)
    expect(reports.problems.filter((problem) => !/ 404 |stream/.test(problem))).toEqual([])
    await context.close()
  })

  it('the screen of a delivery shows the response when it comes', async () => {
    const held: ServerResponse[] = []
    const receiver = await listen(
      http.createServer((request, response) => held.push(request.resume() && response)),
    )
    const uri = `http://127.0.0.1:${receiver.port}/slow`
    const { id } = await world.hs.webhooks.create('acme', { name: 'Slow', uri, hook: 'channel_bridge' })
    const deliveryId = await world.hs.webhooks.test('acme', id)
    await expect.poll(() => held.length).toBe(1)
    const { page, context, reports } = await open(`deliveries/${deliveryId}`)
    await page.getByText('in flight').first().waitFor()
    held[0]!.writeHead(204).end()
    await page.getByText('delivered').first().waitFor()
    expect(reports.problems).toEqual([])
    await context.close()
    await receiver.close()
  })
})
