/** The icons of the page, drawn on a grid of 16 px: one sprite, whose symbols are used by name. */

import type { ComponentChildren } from 'preact'
import type { IconName, Role } from '../text/looks.js'

const DRAWINGS: Readonly<Record<IconName, ComponentChildren>> = {
  ok: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m5.4 8.2 1.8 1.8 3.4-3.8" />
    </>
  ),
  fail: (
    <>
      <path d="M5.6 2h4.8L14 5.6v4.8L10.4 14H5.6L2 10.4V5.6z" />
      <path d="M8 5v3.6M8 11v.1" />
    </>
  ),
  pause: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M6.4 6v4M9.6 6v4" />
    </>
  ),
  off: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="m4 12 8-8" />
    </>
  ),
  idle: (
    <>
      <circle cx="8" cy="8" r="6" stroke-dasharray="2.2 2.5" />
    </>
  ),
  wait: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  send: (
    <>
      <path d="M2.5 8h10M9 4.5 12.5 8 9 11.5" />
    </>
  ),
  old: (
    <>
      <path d="M4 2h8M4 14h8M5 2v2.4L8 8l3-3.6V2M5 14v-2.4L8 8l3 3.6V14" />
    </>
  ),
  aside: (
    <>
      <path d="M2 6h12v8H2zM2 6l2-4h8l2 4M6.5 9h3" />
    </>
  ),
  replay: (
    <>
      <path d="M13 8a5 5 0 1 1-1.6-3.7" />
      <path d="M13.2 2v3h-3" />
    </>
  ),
  find: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 3.5 3.5" />
    </>
  ),
  plus: (
    <>
      <path d="M8 3v10M3 8h10" />
    </>
  ),
  down: (
    <>
      <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />
    </>
  ),
  right: (
    <>
      <path d="m6 4 4 4-4 4" />
    </>
  ),
  left: (
    <>
      <path d="m10 4-4 4 4 4" />
    </>
  ),
  x: (
    <>
      <path d="m4.5 4.5 7 7M11.5 4.5l-7 7" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 3.5v-1h-8v8h1" />
    </>
  ),
  test: (
    <>
      <path d="M9 2 3.5 9H8l-1 5 5.5-7H8z" />
    </>
  ),
  more: (
    <>
      <path d="M3.5 8h.1M8 8h.1M12.5 8h.1" />
    </>
  ),
  start: (
    <>
      <path d="M3 10.5C3 6.4 6.4 3 10.5 3M9 8.5 7.5 10" />
      <path d="M5.2 13.2c-1.9 0-2.7-1-2.7-2.5l2.4-.6 1 2.2 2.9-2.9-2.2-1 .6-2.4" />
      <path d="M10.5 6v3.5H14" />
    </>
  ),
  answer: (
    <>
      <path d="M3 4.5c0 5 3.5 8.5 8.5 8.5l1.5-2.5-3-1.6-1.2 1.2A6 6 0 0 1 5.9 7.2L7.1 6 5.5 3z" />
    </>
  ),
  end: (
    <>
      <path d="M2 10.2c0-2 2.6-3.9 6-3.9s6 1.9 6 3.9l-.6 1.3-3.2-.7V8.6a8 8 0 0 0-4.4 0v2.2l-3.2.7z" />
    </>
  ),
  join: (
    <>
      <circle cx="4" cy="8" r="2" />
      <circle cx="12" cy="8" r="2" />
      <path d="M6 8h4" />
    </>
  ),
  hold: (
    <>
      <path d="M5.5 4v8M10.5 4v8" />
    </>
  ),
  missed: (
    <>
      <path d="m3 5 4.5 4.5L13 4M13 8V4H9" />
      <path d="M3 8.5V13h4" />
    </>
  ),
  voice: (
    <>
      <circle cx="4.5" cy="8" r="2.5" />
      <circle cx="11.5" cy="8" r="2.5" />
      <path d="M4.5 10.5h7" />
    </>
  ),
  queue: (
    <>
      <path d="M3 4h10M3 8h7M3 12h4" />
    </>
  ),
  user: (
    <>
      <circle cx="8" cy="5.5" r="2.5" />
      <path d="M3 13.5c.6-2.7 2.5-4 5-4s4.4 1.3 5 4" />
    </>
  ),
  link: (
    <>
      <path d="M6.5 9.5 11.5 4.5M7.5 4.5h4v4M10 10.5v2.5H3V6h2.5" />
    </>
  ),
  list: (
    <>
      <path d="M2.5 4h11M2.5 8h11M2.5 12h11" />
    </>
  ),
  screen: (
    <>
      <rect x="2" y="3" width="12" height="8" rx="1.5" />
      <path d="M6 13.5h4" />
    </>
  ),
  bill: (
    <>
      <path d="M3.5 2h9v12l-2-1.3L8.5 14l-2-1.3-3 1.3zM6 5.5h4M6 8.5h4" />
    </>
  ),
  text: (
    <>
      <path d="M2.5 3h11v7.5H7L4 13v-2.5H2.5z" />
    </>
  ),
  half: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5v11" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </>
  ),
  key: (
    <>
      <circle cx="5" cy="8" r="2.5" />
      <path d="M7.5 8H14M11.5 8v2.5" />
    </>
  ),
  filter: (
    <>
      <path d="M2.5 4h11M4.5 8h7M6.5 12h3" />
    </>
  ),
  node: (
    <>
      <rect x="2.5" y="3" width="11" height="4" rx="1" />
      <rect x="2.5" y="9" width="11" height="4" rx="1" />
      <path d="M5 5h.1M5 11h.1" />
    </>
  ),
}

/** The sprite; once, before everything that uses an icon. */
export function IconSprite() {
  return (
    <svg width="0" height="0" class="hidden" aria-hidden="true">
      <defs>
        {Object.entries(DRAWINGS).map(([name, drawing]) => (
          <symbol key={name} id={`i-${name}`} viewBox="0 0 16 16">
            {drawing}
          </symbol>
        ))}
      </defs>
    </svg>
  )
}

/** An icon beside a word that says the same; screen readers skip it. */
export function Icon({ name, tone }: { readonly name: IconName; readonly tone?: Role }) {
  return (
    <svg class={tone === undefined ? 'i' : tone === 'ok' ? 'i okc' : `i is-${tone}`} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  )
}
