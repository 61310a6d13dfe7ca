import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ROOT, read, sourceFiles } from '../../house/sources.js'

const PAGE = join(ROOT, 'dist', 'portal')
const files = readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
)
const page = readFileSync(join(PAGE, 'index.html'), 'utf8')
const sizeOf = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(PAGE, name)), { level: 9 }).length, 0)
const assets = files.filter((name) => /\.(js|css)$/.test(name))
const first = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name!)

describe('the built page', () => {
  it('stays within its budgets: 41 KB of script and 6 KB of style at first, 132 KB in all, gzipped', () => {
    const scripts = sizeOf(first.filter((name) => name.endsWith('.js')))
    const styles = sizeOf(first.filter((name) => name.endsWith('.css')))
    const all = sizeOf(assets)
    console.log(
      `the page, gzipped: ${scripts} B of script and ${styles} B of style at first, ${all} B in all`,
    )
    expect(scripts).toBeGreaterThan(0)
    expect(styles).toBeGreaterThan(0)
    expect(scripts).toBeLessThanOrEqual(41_000)
    expect(styles).toBeLessThanOrEqual(6_000)
    expect(all).toBeLessThanOrEqual(132_000)
  })

  it('has a hash in every name', () => {
    for (const name of assets) expect(name).toMatch(/-[\w-]{8}\.(js|css)$/)
  })

  it('has no inline script or style, no absolute address, and makes no HTML of text', () => {
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|style=/i)
    expect(page).not.toMatch(/(?:src|href)="\//)
  })

  it('makes no HTML of text: no source of it knows how', () => {
    const makesHtml =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|DOMParser/
    const sources = sourceFiles('adapters/portal/app')
    expect(sources.length).toBeGreaterThan(50)
    expect(sources.filter((path) => makesHtml.test(read(path)))).toEqual([])
  })
})
