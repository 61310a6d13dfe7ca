import { describe, expect, it } from 'vitest'
import { importsOf, sourceFiles } from './sources.js'

/**
 * The layers of `src` as data: a folder (or root file) may import the folders and files in its row, and nothing else
 * of `src`. Folders of the same layer never import each other, and nothing imports upward.
 */
const BASE = ['src/values', 'src/errors.ts', 'src/ports.ts', 'src/events.ts', 'src/metrics.ts']
const DOMAIN = ['src/accounts', ...BASE]
const DELIVERY = ['src/delivery', 'src/webhooks', 'src/auth', ...DOMAIN]
const STATS = ['src/stats', ...DELIVERY]
const RUNTIME = [
  'src/stream',
  'src/store',
  'src/wire',
  'src/options',
  'src/legs',
  'src/send',
  'src/version.ts',
  ...STATS,
]
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/values': [],
  'src/errors.ts': ['src/values'],
  'src/ports.ts': ['src/values'],
  'src/metrics.ts': ['src/values'],
  'src/events.ts': ['src/errors.ts', 'src/values'],
  'src/accounts': BASE,
  'src/auth': DOMAIN,
  'src/webhooks': DOMAIN,
  'src/send': BASE,
  'src/legs': BASE,
  'src/delivery': ['src/webhooks', ...DOMAIN],
  'src/stats': ['src/delivery', 'src/webhooks', ...DOMAIN],
  'src/store': ['src/legs', ...STATS],
  'src/wire': STATS,
  'src/options': DELIVERY,
  'src/stream': ['src/wire', ...STATS],
  'src/runtime': RUNTIME,
  'src/http': ['src/runtime', ...RUNTIME],
  'src/version.ts': [],
}

/** The top of the package. These files may import each other and every layer; no layer imports them. */
const COMPOSITION_ROOT = ['src/hookswitch.ts', 'src/index.ts', 'src/adapter.ts']

/** Test equipment: may import all of `src`, and only tests and examples import it. */
const TEST_EQUIPMENT = ['src/testkit', 'src/simulator']

/** npm packages that a layer may import. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'src/values': ['ipaddr.js'],
  'src/events.ts': ['eventemitter3'],
  'src/accounts': ['lru-cache'],
  'src/auth': ['lru-cache', 'nanoid'],
  'src/delivery': ['lru-cache', 'hookswitch', 'hookswitch/adapter', 'hookswitch/store'],
  'src/send': ['undici', 'lru-cache'],
  'src/runtime': ['lru-cache', 'hookswitch/store'],
  'src/http': ['ipaddr.js', 'lru-cache'],
  'src/webhooks': ['@standard-schema/spec', '@cfworker/json-schema', 'hookswitch/adapter'],
  // Types whose declarations refer to the subpath that exports them.
  'src/options': ['hookswitch/adapter', 'hookswitch/store'],
  'src/stats': ['hookswitch/adapter'],
  'src/store': ['hookswitch/store'],
}

/** The packages of ours that an adapter may import, and the drivers that adapters connect to. */
const ADAPTER_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'adapters/http': ['hookswitch', 'hookswitch/adapter'],
  'adapters/telephony': ['hookswitch', 'hookswitch/adapter'],
  'adapters/storage': ['hookswitch', 'hookswitch/store'],
  'adapters/observability': ['hookswitch', 'hookswitch/adapter'],
  'adapters/cli': [
    'hookswitch',
    'hookswitch/adapter',
    'hookswitch/node',
    'hookswitch/prometheus',
    'hookswitch/sqlite',
    'hookswitch/postgres',
    'hookswitch/freeswitch',
    'hookswitch/asterisk',
    'hookswitch/kamailio',
    'hookswitch/client',
    'hookswitch/portal',
    'hookswitch/blackhole',
  ],
  'adapters/client': [],
  'adapters/blackhole': ['hookswitch', 'hookswitch/adapter'],
  'adapters/portal': ['hookswitch', 'hookswitch/adapter', 'hookswitch/client'],
}
const DRIVERS = [
  'express',
  'fastify',
  '@opentelemetry/api',
  'pg',
  'ws',
  '@photostructure/sqlite',
  'undici',
  'lru-cache',
  'jsonc-parser',
  'yaml',
  '@noble/hashes/legacy.js',
  '@noble/hashes/utils.js',
  'vite',
  'preact',
  'preact/hooks',
  '@preact/signals',
  'virtual:snippets',
]

/** `src/delivery/worker/worker.ts` → `src/delivery`; `src/index.ts` stays. */
const layerOf = (path: string) => path.split('/').slice(0, 2).join('/')
const isOurs = (name: string) => /^(src|adapters|test)\//.test(name)
const isTestEquipment = (path: string) => TEST_EQUIPMENT.includes(layerOf(path))

describe('the layers', () => {
  it('a file of src imports only files of lower layers', () => {
    const violations = sourceFiles('src').flatMap((path) => {
      const layer = layerOf(path)
      if (isTestEquipment(path) || COMPOSITION_ROOT.includes(layer)) return []
      const allowed = MAY_IMPORT[layer]
      if (!allowed) return [`${layer} has no row in MAY_IMPORT`]
      return importsOf(path)
        .filter((name) =>
          isOurs(name)
            ? layerOf(name) !== layer && !allowed.includes(layerOf(name))
            : !name.startsWith('node:') && !(PACKAGES[layer] ?? []).includes(name),
        )
        .map((name) => `${path} imports ${name}`)
    })
    expect(violations).toEqual([])
  })

  it('only tests and examples import the testkit and the simulator', () => {
    const violations = sourceFiles('src', 'adapters')
      .filter((path) => !isTestEquipment(path))
      .flatMap((path) =>
        importsOf(path)
          .filter((name) => /^(src|hookswitch)\/(testkit|simulator)/.test(name))
          .map((name) => `${path} imports ${name}`),
      )
    expect(violations).toEqual([])
  })

  it('the testkit does not import the simulator', () => {
    const violations = sourceFiles('src/testkit').filter((path) =>
      importsOf(path).some((name) => name.startsWith('src/simulator')),
    )
    expect(violations).toEqual([])
  })

  it('an adapter imports the package by its public names, its own folder and its driver', () => {
    const violations = sourceFiles('adapters').flatMap((path) => {
      const folder = layerOf(path)
      return importsOf(path)
        .filter((name) => {
          if (isOurs(name)) return layerOf(name) !== folder
          if (name.startsWith('hookswitch')) return !ADAPTER_MAY_IMPORT[folder]!.includes(name)
          return !name.startsWith('node:') && !DRIVERS.includes(name)
        })
        .map((name) => `${path} imports ${name}`)
    })
    expect(violations).toEqual([])
  })

  it('the main entry reaches no adapter, so that the page makes it no larger', () => {
    const reached = new Set<string>()
    const visit = (path: string): void => {
      if (reached.has(path)) return
      reached.add(path)
      for (const name of importsOf(path)) if (/^(src|adapters)\//.test(name)) visit(name)
    }
    visit('src/index.ts')
    expect(reached.size).toBeGreaterThan(50)
    expect([...reached].filter((path) => path.startsWith('adapters/'))).toEqual([])
  })

  it('no import cycle exists in src and adapters', () => {
    const files = sourceFiles('src', 'adapters')
    const edges = new Map(files.map((path) => [path, importsOf(path).filter((name) => files.includes(name))]))
    const done = new Set<string>()
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path))
        throw new Error(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`)
      if (done.has(path)) return
      for (const next of edges.get(path)!) visit(next, [...trail, path])
      done.add(path)
    }
    for (const path of files) visit(path, [])
    expect(done.size).toBe(files.length)
  })
})
