/** The parts of the site that need no generator: `npm run docs` builds it, and runs the same checks. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemsOfSite } from '../../docs/.vitepress/check-site.js'
import { groupsOfIndex, linkOnSite } from '../../docs/.vitepress/pages.js'

describe('a link of a page', () => {
  it.each([
    ['embed/api.md', 'portal.md', './portal.md'],
    ['embed/api.md', '../http/paging.md#ranges', './../http/paging.md#ranges'],
    ['embed/api.md', '#events', '#events'],
    ['embed/portal.md', 'images/webhooks.webp', './images/webhooks.webp'],
    ['index.md', 'switches/README.md', './switches/index.md'],
    ['switches/index.md', 'asterisk.md', './asterisk.md'],
    ['getting-started.md', '../README.md#five-minutes', './overview.md#five-minutes'],
    ['overview.md', 'docs/README.md', './index.md'],
    ['overview.md', 'docs/embed/api.md', './embed/api.md'],
    ['overview.md', 'CHANGELOG.md', './changelog.md'],
    ['embed/api.md', 'https://github.com/hookswitch/hookswitch/blob/main/README.md', './../overview.md'],
    ['types/hookswitch.md', 'hookswitch-node.md', 'hookswitch-node.md'],
  ])('on %s to %s leads to %s', (page, target, expected) => {
    expect(linkOnSite(page, target)).toBe(expected)
  })

  it('to a file that is not on the site leads to GitHub, and one to elsewhere stays', () => {
    const file = 'https://github.com/hookswitch/hookswitch/blob/main/deploy/grafana/hookswitch.json'
    expect(linkOnSite('operate/metrics-and-alerts.md', '../../deploy/grafana/hookswitch.json')).toBe(file)
    expect(linkOnSite('operate/metrics-and-alerts.md', file)).toBe(file)
    expect(linkOnSite('embed/api.md', 'https://example.com/a#b')).toBe('https://example.com/a#b')
  })
})

it('the navigation has the groups and links of docs/README.md', () => {
  const groups = groupsOfIndex()
  expect(groups.map(({ text }) => text)).toContain('Receive webhooks')
  const links = groups.flatMap(({ items }) => items.map(({ link }) => link))
  expect(links).toEqual(
    expect.arrayContaining(['/overview', '/getting-started', '/switches/', '/switches/kamailio']),
  )
  expect(links.filter((link) => !/^\/[a-z/-]+$/.test(link))).toEqual([])
})

describe('a built site', () => {
  const problems = (files: Readonly<Record<string, string>>) => {
    const folder = mkdtempSync(join(tmpdir(), 'hookswitch-site-'))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    return problemsOfSite(folder, '/base/')
  }

  it('may link to other hosts', () => {
    const page = '<a class="x" href="https://example.com/#y">elsewhere</a><img src="/base/a.webp">'
    expect(problems({ 'index.html': page })).toEqual([])
  })

  it.each([
    ['a script', '<script src="https://cdn.example/x.js"></script>'],
    ['a style sheet', '<link rel="stylesheet" href="https://fonts.example/x.css">'],
    ['a connection ahead', '<link rel="preconnect" href="//fonts.example">'],
    ['an image', '<p><img alt="x" src="http://images.example/x.png"></p>'],
  ])('must not load %s from elsewhere', (_, html) => {
    expect(problems({ 'index.html': html })).toHaveLength(1)
  })

  it('must not load a font from elsewhere', () => {
    expect(problems({ 'a.css': '@font-face{src:url(https://fonts.example/x.woff2)}' })).toHaveLength(1)
    expect(problems({ 'a.css': '@import "//fonts.example/x.css";' })).toHaveLength(1)
    expect(problems({ 'a.css': '@font-face{src:url(/base/x.woff2)}' })).toEqual([])
  })

  it('must not have a link to a heading that does not exist', () => {
    const target = '<h2 id="here">Here</h2>'
    const page = (link: string) => ({
      'a/b.html': `<a href="${link}">there</a>`,
      'c.html': target,
      'd/index.html': target,
    })
    for (const link of ['/base/c.html#here', './../c.html#here', '/base/d/#here']) {
      expect(problems(page(link))).toEqual([])
      expect(problems(page(link.replace('#here', '#nowhere')))).toHaveLength(1)
    }
    expect(problems(page('#here'))).toHaveLength(1)
  })
})
