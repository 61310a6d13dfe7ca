import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../src/wire/filter.js'
import { parseQuery } from '../../src/wire/query.js'

const item = {
  name: 'a b',
  retries: 2,
  enabled: false,
  custom_data: { k: 'v', deep: { x: '1' } },
  gone: undefined,
}
const matches = (query: string) => parseFilter(parseQuery(`/?${query}`))?.(item)

describe('parseFilter', () => {
  it.each([
    ['filter_name=a+b', true],
    ['filter_name=a', false],
    ['filter_retries=2', true],
    ['filter_enabled=false', true],
    ['filter_enabled=true', false],
    ['filter_custom_data.k=v', true],
    ['filter_custom_data.deep.x=1', true],
    ['filter_custom_data=v', false],
    ['filter_missing=x', false],
    ['filter_missing=', true],
    ['filter_gone=', true],
    ['filter_retries=["1","2"]', true],
    ['filter_retries=[1,2]', true],
    ['filter_retries=[3]', false],
    ['filter_name=[broken', false],
    ['filter_not_retries=3', true],
    ['filter_not_retries=2', false],
    ['filter_not_missing=x', true],
    ['has_key=custom_data.k', true],
    ['has_key=gone', false],
    ['has_key=constructor', false],
    ['has_key=name.length', false],
    ['key_missing=gone', true],
    ['key_missing=name', false],
    ['filter_retries=2&filter_enabled=true', false],
    ['filter_retries=2&filter_enabled=false&has_key=name', true],
    ['has_key=name&has_key=gone', false],
  ])('evaluates ?%s', (query, expected) => {
    expect(matches(query)).toBe(expected)
  })

  it('returns undefined if the query has no filter', () => {
    expect(matches('page_size=5&filter=x&filters=y')).toBeUndefined()
  })
})
