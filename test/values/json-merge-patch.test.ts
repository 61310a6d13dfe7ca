import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonMergePatch } from '../../src/values/json-merge-patch.js'

describe('jsonMergePatch (RFC 7396)', () => {
  // Appendix A.
  it.each<[string, string, string]>([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('of %s with %s is %s', (target, patch, result) => {
    expect(jsonMergePatch(JSON.parse(target), JSON.parse(patch))).toEqual(JSON.parse(result))
  })

  it('treats a key named __proto__ as data', () => {
    const merged = jsonMergePatch(
      JSON.parse('{"a":1,"__proto__":{"b":1}}'),
      JSON.parse('{"__proto__":{"c":2}}'),
    )
    expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"b":1,"c":2}}')
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
    expect(jsonMergePatch({}, JSON.parse('{"__proto__":null}'))).toEqual({})
  })

  it('modifies neither argument and is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const [targetBefore, patchBefore] = [JSON.stringify(target), JSON.stringify(patch)]
        const merged = jsonMergePatch(target, patch)
        expect([JSON.stringify(target), JSON.stringify(patch)]).toEqual([targetBefore, patchBefore])
        expect(jsonMergePatch(merged, patch)).toEqual(merged)
      }),
    )
  })
})
