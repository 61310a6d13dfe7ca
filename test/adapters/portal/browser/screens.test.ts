import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, expectRefusals, violations } from './browser.js'
import { signedInTest as it } from './page-test.js'

describe.skipIf(CHROMIUM === undefined)('the screens', () => {
  const reasonOf = (page: Page, label: string) => {
    const field = page.locator('.field').filter({ has: page.getByText(label, { exact: true }) })
    return field.locator('.reason').innerText()
  }

  it('show what is failing, and the list can be filtered by state and text', async ({ page, row }) => {
    await row('CRM <b>popup</b>').getByText('failing').waitFor()
    await row('Dashboard').getByText('ok').waitFor()
    await page.getByRole('button', { name: 'failing' }).click()
    await row('Dashboard').waitFor({ state: 'detached' })
    expect(page.url()).toContain('#/acme/webhooks?state=failing')
    await page.getByRole('button', { name: 'All', exact: true }).click()
    const search = page.getByRole('searchbox', { name: 'Search by name or URL' })
    await search.fill('dash')
    await search.press('Enter')
    await row('CRM').waitFor({ state: 'detached' })
    await row('Dashboard').waitFor()
  })

  it('show no hidden character of a name, wherever it stands', async ({ world, page, open, row }) => {
    const name = 'Invoice\u202Egnp.exe\u2066\u200b'
    const shown = 'Invoice\\u{202E}gnp.exe\\u{2066}\\u{200B}'
    const { id } = await world.hs.webhooks.create('acme', {
      name,
      uri: 'http://127.0.0.1:9/',
      hook: 'all',
      enabled: false,
      group: name,
    })
    await world.hs.accounts.create({ id: 'hostile', name, realm: 'hostile.example', parentId: 'acme' })
    const wholeText = () =>
      page.evaluate<string>(
        `[document.title, document.body.innerText, ...[...document.querySelectorAll('*')].flatMap((one) =>
          [...one.attributes].filter(({ name }) => name !== 'value').map(({ value }) => value)),
          ...[...document.querySelectorAll('option')].map((one) => one.textContent)].join('\\n')`,
      )
    const expectShown = async () => {
      const text = await wholeText()
      expect(text).toContain(shown)
      expect(text).not.toMatch(/[\u202e\u2066\u200b]/)
    }
    await page.reload()
    await row(shown).waitFor()
    // The account is in the list of accounts of the head.
    await expect.poll(async () => (await wholeText()).split(shown).length).toBeGreaterThanOrEqual(4)
    await expectShown()
    await open(`webhooks/${id}`)
    await page.getByRole('heading', { name: shown }).waitFor()
    await expect.poll(() => page.title()).toContain(shown)
    await expectShown()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText(shown).waitFor()
    await expectShown()
    await world.hs.webhooks.remove('acme', id)
    await world.hs.accounts.remove('hostile')
  })

  it('say in their own words what they do not ask the service', async ({ world, page, open }) => {
    await open(`webhooks/${world.badId}/attempts?from=2026-01-02T00:00&to=2026-01-01T00:00`)
    await page.getByText('This time range ends before it begins.').waitFor()
    await open(`webhooks/${world.goodId}/settings`)
    await page.getByLabel('Filter').fill('[]')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is not a JSON object.').first().waitFor()
    expect(await page.getByText('The service reports').count()).toBe(0)
  })

  it('create a webhook, with the reasons of the service beside the fields, and test it disabled', async ({
    world,
    page,
    reports,
    row,
  }) => {
    await page.getByRole('link', { name: '+ New' }).click()
    await page.getByLabel('URL').fill('ftp://x')
    await page.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => reasonOf(page, 'Name')).toBe('This is required.')
    expect(await reasonOf(page, 'URL')).toBe('must be an absolute http or https URL')
    expect(await page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
    await page.getByText('Some values are not accepted. The reasons are beside the fields.').waitFor()
    expectRefusals(reports, 400)
    await page.getByLabel('Name').fill('Billing')
    const { uri } = await world.hs.webhooks.read('acme', world.goodId)
    await page.getByLabel('URL').fill(uri)
    await page.getByRole('button', { name: 'Save disabled and test' }).click()
    await page.getByRole('heading', { name: 'Delivery of channel_create' }).waitFor()
    await page.getByText('test', { exact: true }).waitFor()
    await page.getByText('successful').first().waitFor()
    await page.getByRole('link', { name: 'Webhook', exact: true }).click()
    await page.getByRole('heading', { name: 'Billing' }).waitFor()
    await page.getByText('disabled').first().waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('The webhook is enabled.').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The webhook is deleted.').waitFor()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await row('Billing').waitFor({ state: 'detached' })
  })

  it('save settings, and do not overwrite what somebody else has saved', async ({
    world,
    page,
    context,
    reports,
    open,
  }) => {
    const { id } = await world.hs.webhooks.create('acme', {
      name: 'Shared',
      uri: 'http://127.0.0.1:9/x',
      hook: 'channel_create',
      customData: { site: 'Bonn' },
    })
    await open(`webhooks/${id}/settings`)
    await page.getByLabel('Additional fields').fill('town: Köln')
    await page.getByLabel('Group').fill('crm')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await world.hs.webhooks.read('acme', id)).toMatchObject({
      customData: { town: 'Köln' },
      group: 'crm',
    })
    await page.getByLabel('Group').fill('sales')
    await world.hs.webhooks.patch('acme', id, { name: 'Renamed' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody else has changed this webhook.').waitFor()
    expectRefusals(reports, 412)
    expect(await world.hs.webhooks.read('acme', id)).toMatchObject({ name: 'Renamed', group: 'crm' })
    // A page that is still open would ask for a webhook that is gone.
    await context.close()
    await world.hs.webhooks.remove('acme', id)
  })

  it('reveal the secret, hide it, replace it, and say how to check signatures', async ({
    world,
    page,
    open,
  }) => {
    await open(`webhooks/${world.goodId}/secret`)
    const output = page.locator('output.secret')
    await page.getByRole('button', { name: 'Reveal' }).click()
    await expect.poll(() => output.innerText()).toMatch(/^whsec_[A-Za-z0-9+/=]{24,}$/)
    const first = await output.innerText()
    await page.getByRole('button', { name: 'Hide' }).click()
    await expect.poll(() => output.innerText()).toContain('•')
    await page.getByRole('button', { name: 'Replace the secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click()
    await expect.poll(() => output.innerText()).toMatch(/^whsec_[A-Za-z0-9+/=]{24,}$/)
    expect(await output.innerText()).not.toBe(first)
    for (const language of ['Node', 'Python', 'PHP', 'Ruby', 'Go', 'Java', 'C#', 'curl + openssl']) {
      await page.getByRole('button', { name: language, exact: true }).click()
      const snippet = page.getByRole('region', { name: language, exact: true })
      expect(await snippet.innerText()).toMatch(/whsec_/)
    }
  })

  it('move by keyboard: j and k between rows, Enter opens one, ? helps, and all can be switched off', async ({
    page,
    row,
  }) => {
    await row('Dashboard').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate<string>('document.activeElement?.textContent')).toBe('Dashboard')
    await page.keyboard.press('k')
    await expect.poll(() => page.evaluate<string>('document.activeElement?.textContent')).toContain('CRM')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'CRM <b>popup</b>' }).waitFor()
    // Navigation moves the focus to the heading.
    expect(await page.evaluate<string>('document.activeElement?.tagName')).toBe('H1')
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByLabel('Shortcuts are on').uncheck()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    expect(await page.evaluate<string>('document.activeElement?.id')).not.toBe('search')
  })

  it('speak German, show local time, and remember it', async ({ world, page, reports, open, row }) => {
    await page.getByText('Menu').click()
    await page.getByLabel('Language').selectOption('de')
    await page.getByText('Menü').waitFor()
    await row('CRM').getByText('fehlerhaft').waitFor()
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('de')
    await page.reload()
    await page.getByRole('link', { name: '+ Neu' }).waitFor()
    await open(`webhooks/${world.badId}/deliveries`)
    await page
      .getByText(/^Aufgegeben nach \d+ Versuch(en)?: status 500\.$/)
      .first()
      .waitFor()
    await open('webhooks')
    await page.getByRole('link', { name: '+ Neu' }).click()
    await page.getByLabel('Wiederholungen').fill('2.5')
    await page.getByLabel('Zusätzliche Header').fill('Host: x\nX-Y: ä')
    await page.getByLabel('Nur diese Ereignisse').fill('channel_answer, call_me')
    await page.getByRole('button', { name: 'Anlegen' }).click()
    await expect.poll(() => reasonOf(page, 'Name')).toBe('Das muss angegeben werden.')
    expect(await reasonOf(page, 'Wiederholungen')).toBe('Das muss eine ganze Zahl sein.')
    expect((await reasonOf(page, 'Zusätzliche Header')).split('\n')).toEqual([
      'Host: Der Dienst meldet: this header may not be set: it says where a request goes or what it does',
      'X-Y: Der Dienst meldet: header values may contain printable ASCII characters and tabs only',
    ])
    expect(await reasonOf(page, 'Nur diese Ereignisse')).toMatch(
      /^call_me: Möglich sind nur: .*channel_answer/,
    )
    expectRefusals(reports, 400)
  })

  it('belong to the account of the address, which the user can switch', async ({
    world,
    page,
    context,
    reports,
  }) => {
    await page.getByRole('combobox', { name: 'Account' }).selectOption('branch')
    await page.getByText('This account has no webhooks yet.').waitFor()
    expect(page.url()).toContain('#/branch/webhooks')
    await page.goto(`${world.url}#/nobody/webhooks`)
    await page.getByText('This does not exist, or no longer.').waitFor()
    await context.close()
    expectRefusals(reports, 404)
  })

  it('show operators the endpoints of the whole service', async ({ page, row }) => {
    await page.getByRole('link', { name: 'Operator' }).click()
    await row('CRM <b>popup</b>').getByText('failing').waitFor()
  })

  it('keep old data with its age while the service cannot be reached', async ({
    world,
    page,
    context,
    reports,
    open,
    row,
  }) => {
    await open(`webhooks/${world.badId}/deliveries`)
    await row('given up').first().waitFor()
    await context.setOffline(true)
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.getByText('Shown is the state').first().waitFor()
    expect(await row('given up').count()).toBeGreaterThan(0)
    await context.setOffline(false)
    reports.problems.length = 0
  })

  it('have no violation that axe finds, in light, in dark and at 320 pixels', async ({
    world,
    page,
    open,
  }) => {
    const hashes = [
      'webhooks',
      ...['health', 'attempts', 'deliveries', 'settings', 'secret'].map(
        (tab) => `webhooks/${world.badId}/${tab}`,
      ),
      `calls/${encodeURIComponent(world.callId)}`,
      'webhooks/new',
      'live',
      'match',
    ]
    for (const look of [
      { colorScheme: 'light', width: 1_280 },
      { colorScheme: 'dark', width: 1_280 },
      { colorScheme: 'light', width: 320 },
    ] as const) {
      await page.emulateMedia({ colorScheme: look.colorScheme })
      await page.setViewportSize({ width: look.width, height: 800 })
      for (const hash of hashes) {
        await open(hash)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.locator('.skeleton').waitFor({ state: 'detached' })
        expect([hash, look, await violations(page)]).toEqual([hash, look, []])
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - window.innerWidth',
        )
        expect([hash, look.width, overflow <= 0 || overflow]).toEqual([hash, look.width, true])
      }
    }
  })
})
