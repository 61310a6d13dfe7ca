import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseResolvConf, searchNames } from '../../src/send/search-domains.js'

describe('parseResolvConf', () => {
  it.each([
    ['nothing', '', [], 1],
    ['spaces and tabs', 'search \t a.test\tB.Test  c.test. \r\n', ['a.test', 'b.test', 'c.test'], 1],
    ['comments', '# search x.test\n; search y.test\nsearch a.test\n#search z.test', ['a.test'], 1],
    ['a keyword that is indented or longer', ' search x.test\nsearching y.test\nsearch\n', [], 1],
    ['the last search or domain', 'search a.test b.test\ndomain c.test d.test\n', ['c.test'], 1],
    [
      'a search after a domain',
      'domain c.test\nsearch a.test b.test\nsearch\ndomain \n',
      ['a.test', 'b.test'],
      1,
    ],
    ['six domains', 'search a b c d e f g h\n', ['a', 'b', 'c', 'd', 'e', 'f'], 1],
    ['the root', 'search . a.test', ['', 'a.test'], 1],
    ['each domain once', 'search a.test A.test. a.test', ['a.test'], 1],
    ['no invalid domain', `search a..b .a a_1-.test ü.test ${'a'.repeat(64)} a/b`, ['a_1-.test'], 1],
    ['ndots', 'options timeout:1 ndots:5 rotate\n', [], 5],
    ['the last ndots, at most 15', 'options ndots:2\noptions ndots:0 ndots:99\n', [], 15],
    ['no invalid ndots', 'options ndots:3 ndots:x ndots: ndots:-1 ndots:1.5 ndots\n', [], 3],
  ])('reads %s', (_, text, domains, ndots) => {
    expect(parseResolvConf(text)).toEqual({ domains, ndots })
  })

  it('reads any text, and makes names of at most 253 characters of it', () => {
    const word = fc.oneof(
      fc.constantFrom('search', 'domain', 'options', 'ndots:3', ' ', '\t', '\n', '.', 'a.test'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(word), fc.domain(), (words, hostname) => {
        const rules = parseResolvConf(words.join(''))
        expect(rules.domains.length).toBeLessThanOrEqual(6)
        const names = searchNames(hostname, rules)
        expect(names.filter((name) => name === hostname.toLowerCase())).toHaveLength(1)
        for (const name of names) expect(name.length).toBeLessThanOrEqual(253)
      }),
    )
  })
})

describe('searchNames', () => {
  const domains = ['a.test', 'b.test']
  it.each([
    ['crm', 1, ['crm.a.test', 'crm.b.test', 'crm']],
    ['crm.x', 1, ['crm.x', 'crm.x.a.test', 'crm.x.b.test']],
    ['crm.x', 2, ['crm.x.a.test', 'crm.x.b.test', 'crm.x']],
    ['crm', 0, ['crm', 'crm.a.test', 'crm.b.test']],
    ['CRM.', 5, ['crm']],
    ['crm.x.', 1, ['crm.x']],
  ])('%s with ndots %i', (hostname, ndots, names) => {
    expect(searchNames(hostname, { domains, ndots })).toEqual(names)
  })

  it('looks up a name once, where the root is among the domains', () => {
    expect(searchNames('crm', { domains: ['a.test', '', 'b.test'], ndots: 1 })).toEqual([
      'crm.a.test',
      'crm',
      'crm.b.test',
    ])
  })

  it('omits names that are too long', () => {
    const name = Array.from({ length: 4 }, () => 'x'.repeat(61)).join('.')
    expect(searchNames(name, { domains: ['a.test', 'b.de'], ndots: 9 })).toEqual([`${name}.b.de`, name])
  })
})
