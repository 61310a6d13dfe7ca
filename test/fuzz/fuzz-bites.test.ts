import { describe, expect, it } from 'vitest'
import { FACES } from '../adapters/http/faces.js'
import * as raw from '../adapters/http/raw.js'
import { runEpoch, STEPS } from './course.js'
import { DOCTORS } from './doctors.js'

describe('a face with a fault is found out', () => {
  it.each([
    ['500 for a header', /status 500/],
    ['an envelope without its status', /status "undefined"/],
    ['no answer', /no answer while 100 later requests were answered/],
    ['a secret', /the secret "oooooooo…" in it/],
    ['another body', /^fetch differs/],
  ])('%s', async (name, sentence) => {
    const doctor = { face: 'fetch', service: DOCTORS[name]! }
    const faces = { node: FACES.node, fetch: FACES.fetch }
    const found: string[] = []
    for (let epoch = 0; epoch < 12 && found.length === 0; epoch += 1) {
      const how = { seed: 'faults', epoch, steps: STEPS, faces, raw, doctor, most: 1 }
      const { findings } = await runEpoch(how)
      found.push(...findings.map(({ what }) => what))
    }
    expect(found).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]))
    expect(found.filter((what) => what.startsWith('node'))).toEqual([])
  })
})
