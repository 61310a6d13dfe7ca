import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { launch, logIn, newPage, violations } from './browser.js'
import { startWorld, type World } from './world.js'

let world: World, browser: Browser
beforeAll(async () => {
  world = await startWorld()
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})
describe('smoke', () => {
  it('shots', async () => {
    const { page, reports } = await newPage(browser)
    await page.goto(world.url)
    await page.waitForTimeout(500)
    await page.screenshot({ path: '/tmp/shots/login.png' })
    console.log('login', await violations(page))
    await logIn(page, world.url, world.apiKey)
    const shot = async (name: string, hash: string) => {
      await page.goto(`${world.url}${hash}`)
      await page.waitForTimeout(900)
      await page.screenshot({ path: `/tmp/shots/${name}.png` })
      console.log(name, await violations(page), reports.problems.splice(0))
    }
    await shot('list', '#/acme/webhooks')
    for (const tab of ['health', 'attempts', 'deliveries', 'settings', 'secret'])
      await shot(tab, `#/acme/webhooks/${world.badId}/${tab}`)
    await shot('call', `#/acme/calls/${encodeURIComponent(world.callId)}`)
    await page.goto(`${world.url}#/acme/webhooks/${world.badId}/attempts`)
    await page.locator('.row-link').first().click()
    await page.waitForTimeout(900)
    await page.screenshot({ path: '/tmp/shots/delivery.png' })
    console.log('delivery', await violations(page), reports.problems.splice(0))
    await shot('new', '#/acme/webhooks/new')
    await shot('live', '#/acme/live')
    await shot('match', '#/acme/match')
    await shot('operator', '#/operator')
  })
})
