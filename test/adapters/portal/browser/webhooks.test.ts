/** The list of webhooks, the screen of an account without any, the form, the settings and the secret. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, expectRefusals, FAST_POLLING, logIn, violations } from './browser.js'
import { signedInTest as it } from './page-test.js'

/** The field with this label, with its hint. */
const fieldOf = (page: Page, label: string) =>
  page.locator('.ask').filter({ has: page.getByText(label, { exact: true }) })
const hintOf = (page: Page, label: string) => fieldOf(page, label).locator('.hint').last().innerText()
const stateButton = (page: Page, name: string) =>
  page.getByRole('group', { name: 'State' }).getByRole('button', { name })

describe.skipIf(CHROMIUM === undefined)('the list of webhooks', () => {
  it('says in a sentence and in each row what needs attention, and tests it there', async ({
    page,
    open,
    row,
  }) => {
    await open('webhooks')
    await page.getByText('1 of 2 needs attention.').waitFor()
    const bad = row('CRM <b>popup</b>')
    await bad.getByText('Failing').waitFor()
    await bad
      .getByText(/^Answers 500, fails since \d\d:\d\d today\./)
      .first()
      .waitFor()
    await row('Dashboard').getByText('Working').waitFor()
    await bad.getByRole('button', { name: 'Test now' }).click()
    await page.getByText('“CRM <b>popup</b>” answered 500 within').waitFor()
    expect(await violations(page)).toEqual([])
  })

  it('is filtered by state, group and text, and counts each state', async ({ world, page, open, row }) => {
    await world.hs.webhooks.patch('acme', world.goodId, { group: 'Sales' })
    await open('webhooks')
    await stateButton(page, 'All 2').waitFor()
    await stateButton(page, 'Working 1').waitFor()
    expect(await stateButton(page, 'No events yet').count()).toBe(0)
    await stateButton(page, 'Need attention 1').click()
    await row('Dashboard').waitFor({ state: 'detached' })
    expect(page.url()).toContain('#/acme/webhooks?state=attention')
    await stateButton(page, 'All 2').click()
    await page.getByLabel('Group').selectOption('Sales')
    await row('CRM').waitFor({ state: 'detached' })
    await row('Dashboard').waitFor()
    await page.getByRole('button', { name: 'Remove the filter: Group' }).click()
    await row('CRM').waitFor()
    const search = page.getByRole('searchbox', { name: 'Name or address' })
    await search.fill('dash')
    await search.press('Enter')
    await row('CRM').waitFor({ state: 'detached' })
    await search.fill('nothing is called so')
    await search.press('Enter')
    await page.getByText('No webhook matches.').waitFor()
    await world.hs.webhooks.patch('acme', world.goodId, { group: null })
  })

  it('asks once for another state or text, finds while somebody types, and keeps the rows until others come', async ({
    page,
    open,
    row,
  }) => {
    await open('webhooks')
    await stateButton(page, 'Working 1').waitFor()
    const asked: string[] = []
    let hold: Promise<void> | undefined
    await page.route('**/webhooks/health?*', async (route) => {
      asked.push(new URL(route.request().url()).search)
      await hold
      await route.continue()
    })
    let answerNow = () => {}
    hold = new Promise((resolve) => {
      answerNow = resolve
    })
    await stateButton(page, 'Working 1').click()
    await page.locator('table[aria-busy]').waitFor()
    await row('CRM').waitFor()
    answerNow()
    await row('CRM').waitFor({ state: 'detached' })
    expect(asked).toEqual([expect.stringContaining('state=ok')])
    await stateButton(page, 'All 2').click()
    await row('CRM').waitFor()
    asked.length = 0
    const search = page.getByRole('searchbox', { name: 'Name or address' })
    await search.pressSequentially('dash ')
    await row('CRM').waitFor({ state: 'detached' })
    await row('Dashboard').waitFor()
    // What is typed stays as it was typed.
    expect(await search.inputValue()).toBe('dash ')
    await expect.poll(() => page.url()).toMatch(/q=dash$/)
    expect(asked.at(-1)).toContain('q=dash')
    // One page has all webhooks that were found: the page requests neither the failing webhooks nor the counts.
    expect(asked.filter((query) => /state=/.test(query))).toEqual([])
  })

  it('shows a pause, when it ends, and ends it', async ({ world, page, open, row, answer }) => {
    const at = (inMs: number) => new Date(Date.now() + inMs).toISOString()
    const paused = {
      id: world.badId,
      name: 'CRM',
      uri: 'https://crm.example/in',
      state: 'paused',
      failures_in_row: 12,
      failing_since: at(-60_000),
      pause: { kind: 'unavailable', since: at(-50_000) },
      paused_until: at(240_500),
      pending: 1_000,
      pending_capped: true,
      last: { sent_at: at(0), result: 'failure', resp_status_code: '503' },
      spark: { ok: [3, 0], failed: [1, 2] },
    }
    const asked = {
      ...paused,
      id: 'asked',
      name: 'Texts',
      uri: 'https://sms.example/in',
      pause: undefined,
      pending: 1,
      pending_capped: false,
    }
    const { resp_status_code: _, ...silent } = paused.last
    const unknown = {
      ...paused,
      id: 'unknown',
      name: 'Pager',
      uri: 'https://pager.example/in',
      state: 'failing',
    }
    Object.assign(unknown, {
      pause: undefined,
      paused_until: undefined,
      cause: 'name_unknown',
      last: silent,
      pending: 0,
    })
    const texts = { ...asked, last: { ...paused.last, resp_status_code: '429' } }
    await page.route('**/webhooks/health?*', (route) => {
      const state = new URL(route.request().url()).searchParams.get('state') ?? 'all'
      const data = { all: [paused, texts, unknown], paused: [paused, texts], failing: [unknown] }[state] ?? []
      return route.fulfill({ json: { data, status: 'success' } })
    })
    await answer('**/resume', {})
    await open('webhooks')
    await page.getByText('3 of 3 need attention. 1,001+ events wait for 2 servers.').waitFor()
    const listed = row('CRM')
    await listed
      .getByText(/Answers 503, fails since .* Next try in [34] min\./)
      .first()
      .waitFor()
    await row('Texts')
      .getByText(/^Your server asked us to wait until \d\d:\d\d\.$/)
      .first()
      .waitFor()
    await row('Pager')
      .getByText(/^Name not found, fails since \d\d:\d\d today\.$/)
      .first()
      .waitFor()
    await listed.getByText('1,000+').waitFor()
    await listed.getByRole('cell', { name: '50 %', exact: true }).waitFor()
    await listed.getByRole('img', { name: /^3 .* 3 / }).waitFor()
    const resumed = page.waitForRequest((request) => request.url().endsWith('/resume'))
    await listed.getByRole('button', { name: 'Resume' }).click()
    expect((await resumed).method()).toBe('PUT')
    await page.getByText('The pause is over.').waitFor()
    expect(await violations(page)).toEqual([])
  })

  it('switches on again what the service has switched off, also where it has not counted all', async ({
    page,
    open,
    row,
  }) => {
    const off = Array.from({ length: 100 }, (_, index) => ({
      id: `w${index}`,
      name: `Name of w${index}`,
      uri: 'http://x/',
      state: 'disabled',
      disable_reason: index === 0 ? 'gone' : 'too many failed attempts',
      pending: 0,
    }))
    let more: object = {}
    await page.route('**/webhooks/health?*', (route) => {
      const { searchParams } = new URL(route.request().url())
      const state = searchParams.get('state')
      const isOff = state === 'disabled' && searchParams.get('has_key') === 'disable_reason'
      const found = isOff || state === null ? { data: off, ...more } : { data: [] }
      return route.fulfill({ json: { ...found, status: 'success' } })
    })
    await open('webhooks')
    await page.getByRole('button', { name: 'Switch 100 on again…' }).waitFor()
    await row('Name of w0').getByText('Your server answered 410 “Gone”.').first().waitFor()
    await row('Name of w1').getByText('Too many tries failed, so we switched it off.').first().waitFor()
    // It does so for all, also for those that a filter leaves out.
    const search = page.getByRole('searchbox', { name: 'Name or address' })
    await search.fill('Name')
    await search.press('Enter')
    await page.getByRole('button', { name: 'Switch all on again…' }).waitFor()
    await search.fill('')
    await search.press('Enter')
    await page.getByRole('button', { name: 'Switch 100 on again…' }).waitFor()
    more = { next_start_key: 'more' }
    await page.reload()
    await page.getByText('100+ need attention.').waitFor()
    await page.getByRole('button', { name: 'Switch all on again…' }).click()
    await page.getByRole('dialog', { name: 'Switch all on again…' }).waitFor()
  })
})

describe.skipIf(CHROMIUM === undefined)('an account without webhooks', () => {
  it('keeps what is typed while the list is read again', async ({ world, opened: { page } }) => {
    await page.addInitScript(FAST_POLLING)
    await logIn(page, world.url, world.betaKey)
    const field = page.getByLabel('Address of your server')
    await field.pressSequentially('https://crm.exa')
    for (let reads = 0; reads < 3; reads += 1) {
      await page.waitForResponse((response) => response.url().includes('/webhooks/health?'))
    }
    await field.pressSequentially('mple/in')
    expect(await field.inputValue()).toBe('https://crm.example/in')
  })

  it('has one field and one button that lead to a test', async ({ world, opened: { page } }) => {
    await logIn(page, world.url, world.betaKey)
    await page.getByRole('heading', { name: 'Let your systems know about every call' }).waitFor()
    await page
      .getByRole('region', { name: 'What arrives when a call ends' })
      .getByText('hangup_cause')
      .waitFor()
    expect(await violations(page)).toEqual([])
    const field = page.getByLabel('Address of your server')
    await field.fill('my server')
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByText('This is no web address.').waitFor()
    const { uri } = await world.hs.webhooks.read('acme', world.goodId)
    await field.fill(uri)
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByText(/^Your server answered 204 within/).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('127.0.0.1')
    expect(await world.hs.webhooks.list('beta')).toMatchObject([{ enabled: false }])
    // Nothing stays of what was not created.
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await expect.poll(() => world.hs.webhooks.list('beta')).toEqual([])
    await page.getByRole('link', { name: 'Text back missed calls' }).click()
    await page.getByRole('checkbox', { name: /^Missed call/, checked: true }).waitFor()
    expect(await page.getByRole('checkbox', { checked: true, name: /^Call started/ }).count()).toBe(0)
  })
})

describe.skipIf(CHROMIUM === undefined)('the form of a webhook', () => {
  it('makes one webhook where it is created while its test is being sent', async ({ world, page, open }) => {
    const { uri } = await world.hs.webhooks.read('acme', world.goodId)
    const made: string[] = []
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/accounts/acme/webhooks', async (route) => {
      if (route.request().method() === 'PUT') made.push(route.request().url())
      await released
      await route.continue()
    })
    await open(`webhooks/new?${new URLSearchParams({ uri, name: 'Once', test: '1' })}`)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await expect.poll(() => made.length).toBe(1)
    await page.getByRole('button', { name: 'Create webhook' }).click()
    release()
    await page.getByText('The webhook is switched on.').waitFor()
    const named = async () => (await world.hs.webhooks.list('acme')).filter(({ name }) => name === 'Once')
    expect(await named()).toMatchObject([{ enabled: true }])
    expect(made.length).toBe(1)
    await world.hs.webhooks.remove('acme', (await named())[0]!.id)
    await page.getByText('This webhook has been deleted.').waitFor()
  })

  it('has the reasons of the service beside its fields, tests before it is created, and leads to the secret', async ({
    world,
    page,
    reports,
    open,
  }) => {
    await open('webhooks')
    await page.getByRole('link', { name: 'New webhook' }).click()
    const address = page.getByLabel('Address of your server')
    await address.fill('ftp://x')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await expect.poll(() => hintOf(page, 'Name')).toBe('This is required.')
    expect(await hintOf(page, 'Address of your server')).toBe('must be an absolute http or https URL')
    expect(await address.getAttribute('aria-invalid')).toBe('true')
    await page.getByText('Some values are not accepted. The reasons are beside the fields.').waitFor()
    expect(await page.evaluate('document.activeElement === document.querySelector("[aria-invalid]")')).toBe(
      true,
    )
    expectRefusals(reports, 400)
    await page.getByLabel('Name').fill('Billing')
    const bad = await world.hs.webhooks.read('acme', world.badId)
    await address.fill(bad.uri)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText(/^Your server answered 500 within/).waitFor()
    await page.getByRole('button', { name: 'See the exchange' }).click()
    const exchange = page.getByRole('dialog', { name: 'The test and its answer' })
    await exchange.getByText('12345678901234567890').waitFor()
    await page.keyboard.press('Escape')
    const good = await world.hs.webhooks.read('acme', world.goodId)
    await address.fill(good.uri)
    await page.getByRole('button', { name: 'Test again' }).click()
    await page.getByText(/^Your server answered 204 within/).waitFor()
    const drafts = (await world.hs.webhooks.list('acme')).filter(({ name }) => name === 'Billing')
    expect(drafts).toMatchObject([{ enabled: false, uri: good.uri, hook: 'all' }])
    for (const name of ['Answered', 'Call ended'])
      await page.getByRole('checkbox', { name: new RegExp(`^${name}`) }).uncheck()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('The webhook is switched on.').waitFor()
    const { id } = drafts[0]!
    const created = await world.hs.webhooks.read('acme', id)
    expect(created).toMatchObject({ enabled: true, hook: 'channel_create' })
    expect(created.only).toBeUndefined()
    await page.getByRole('button', { name: 'Show the secret' }).waitFor()
    await world.hs.webhooks.remove('acme', id)
    await page.getByText('This webhook has been deleted.').waitFor()
  })

  it('chooses events by meaning, and calls by side and number', async ({ world, page, open }) => {
    await open('webhooks/new')
    await page.getByLabel('Name').fill('Queues')
    await page.getByLabel('Address of your server').fill('http://127.0.0.1:9/x')
    await page.getByLabel('Find an event').fill('agent')
    await page.getByRole('checkbox', { name: /^Agent has answered/ }).check()
    expect(await page.getByRole('checkbox').filter({ visible: true }).count()).toBe(8)
    await page.getByLabel('Find an event').fill('')
    await page.getByText('1 of 10').waitFor()
    await page.getByText('Advanced').click()
    await page.getByLabel('Side of the call').selectOption('inbound')
    await page.getByLabel('Number of the caller').fill('+49 30*, 2001')
    await page.getByLabel('Kept for').fill('3')
    await page.getByLabel('Unit').selectOption('day')
    await page.getByText(/kept for 3 days, .*only some calls/).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'As JSON' }).click()
    expect(JSON.parse(await page.getByLabel('Filter as JSON').inputValue())).toEqual({
      all: [
        { exact: { call_direction: 'inbound' } },
        { any: [{ prefix: { caller_id_number: '+4930' } }, { exact: { caller_id_number: '2001' } }] },
      ],
    })
    await page.getByRole('button', { name: 'By side and number' }).click()
    expect(await page.getByLabel('Number of the caller').inputValue()).toBe('+4930*, 2001')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('The webhook is switched on.').waitFor()
    const [created] = (await world.hs.webhooks.list('acme')).filter(({ name }) => name === 'Queues')
    const stored = await world.hs.webhooks.read('acme', created!.id)
    expect(stored).toMatchObject({
      hook: 'all',
      only: ['channel_create', 'channel_answer', 'channel_destroy', 'queue_agent_answer'],
      maxAgeSeconds: 259_200,
      filter: { all: [{ exact: { call_direction: 'inbound' } }, {}] },
    })
    await world.hs.webhooks.remove('acme', stored.id)
    await page.getByText('This webhook has been deleted.').waitFor()
  })

  it('says in its own words what it does not ask the service, and what it asks it about an address', async ({
    world,
    page,
    open,
  }) => {
    await open(`webhooks/${world.goodId}/settings`)
    await page.getByText('Advanced').click()
    await page.getByRole('button', { name: 'As JSON' }).click()
    await page.getByLabel('Filter as JSON').fill('[]')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is not a JSON object.').waitFor()
    await page.getByRole('button', { name: 'Chosen' }).click()
    await page.getByLabel('Filter as JSON').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Choose at least one event.').waitFor()
    expect(await page.getByText('The service reports').count()).toBe(0)
    const address = page.getByLabel('Address of your server')
    const check = async (text: string) => {
      await address.fill(text)
      await address.blur()
    }
    await check('crm.invalid/in')
    await page.getByRole('button', { name: 'Use https://crm.invalid/in' }).click()
    expect(await address.inputValue()).toBe('https://crm.invalid/in')
    await page.getByText('The name crm.invalid is not found.').waitFor()
    const { uri } = await world.hs.webhooks.read('acme', world.goodId)
    await check(`${uri}?again`)
    await page.getByText('We can call it. It is not encrypted').waitFor()
    await check(uri.replace('http:', 'https:'))
    await page.getByText(/offers no encrypted connection that we can use/).waitFor()
  })

  it('is saved, and does not overwrite what somebody else has saved', async ({
    world,
    page,
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
    await page.getByText('Advanced').click()
    await page.getByLabel('Additional fields').fill('town: Köln')
    await page.getByLabel('Group').fill('crm')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await world.hs.webhooks.read('acme', id)).toMatchObject({
      customData: { town: 'Köln' },
      group: 'crm',
      hook: 'channel_create',
      enabled: true,
    })
    // What the form does not change is taken over: this switch, and the name that somebody else has given.
    await page.getByText('Advanced').click()
    await page.getByLabel('Group').fill('sales')
    await page.getByRole('button', { name: 'More: replay, switch off, delete' }).click()
    await page.getByRole('button', { name: 'Switch off', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('The webhook is switched off.').waitFor()
    await world.hs.webhooks.patch('acme', id, { name: 'Renamed' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expectRefusals(reports, 412)
    const saved = { name: 'Renamed', group: 'sales', enabled: false }
    expect(await world.hs.webhooks.read('acme', id)).toMatchObject(saved)
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Renamed')
    await page.getByText('Advanced').click()
    await page.getByLabel('Group').fill('billing')
    await world.hs.webhooks.patch('acme', id, { group: 'support' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody else has meanwhile changed what you change here.').waitFor()
    expectRefusals(reports, 412)
    expect(await world.hs.webhooks.read('acme', id)).toMatchObject({ group: 'support' })
    // A page that is still open would ask for a webhook that is gone.
    await page.close()
    await world.hs.webhooks.remove('acme', id)
  })

  it('asks before changes go that are not saved', async ({ world, page, open }) => {
    await open(`webhooks/${world.goodId}/settings`)
    await page.getByLabel('Name').fill('Half written')
    await page.getByRole('navigation').getByRole('link', { name: 'Live' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click()
    expect(await page.getByLabel('Name').inputValue()).toBe('Half written')
    await page.getByRole('navigation').getByRole('link', { name: 'Live' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Live' }).waitFor()
  })

  it('speaks German, with the reasons of the service', async ({ page, reports, open }) => {
    await page.addInitScript('localStorage.setItem("hookswitch-portal-language", "de")')
    await open('webhooks')
    await page.getByText('1 von 2 braucht Aufmerksamkeit.').waitFor()
    await open('webhooks/new')
    await page.getByText('Erweitert').click()
    await page.getByLabel('Erneut gesendet nach einer Ablehnung').fill('2.5')
    await page.getByLabel('Zusätzliche Header').fill('Host: x\nX-Y: ä')
    await page.getByRole('button', { name: 'Webhook anlegen' }).click()
    await expect.poll(() => hintOf(page, 'Name')).toBe('Das muss angegeben werden.')
    expect(await hintOf(page, 'Erneut gesendet nach einer Ablehnung')).toBe('Das muss eine ganze Zahl sein.')
    expect((await hintOf(page, 'Zusätzliche Header')).split('\n')).toEqual([
      'Host: Der Dienst meldet: this header may not be set: it says where a request goes or what it does',
      'X-Y: Der Dienst meldet: header values may contain printable ASCII characters and tabs only',
    ])
    // A preview may still be refused.
    await page.close()
    expectRefusals(reports, 400)
  })

  it('reveals the secret, hides it, replaces it, and says how to check signatures', async ({
    world,
    page,
    open,
  }) => {
    await open(`webhooks/${world.goodId}/secret`)
    const output = page.locator('output')
    await page.getByRole('button', { name: 'Show the secret' }).click()
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
})
