/** The icons of the page, drawn on a grid of 16 px: one sprite, whose symbols are used by name. Each is one path. */

import type { IconName, Role } from '../text/looks.js'

const DRAWINGS: Readonly<Record<IconName, string>> = {
  ok: 'M2 8a6 6 0 1 1 12 0a6 6 0 1 1-12 0M5.4 8.2l1.8 1.8 3.4-3.8',
  fail: 'M5.6 2h4.8L14 5.6v4.8L10.4 14H5.6L2 10.4V5.6zM8 5v3.6M8 11v.1',
  pause: 'M2 8a6 6 0 1 1 12 0a6 6 0 1 1-12 0M6.4 6v4M9.6 6v4',
  off: 'M2 8a6 6 0 1 1 12 0a6 6 0 1 1-12 0M4 12l8-8',
  idle: 'M2 8a6 6 0 1 1 12 0a6 6 0 1 1-12 0',
  wait: 'M2 8a6 6 0 1 1 12 0a6 6 0 1 1-12 0M8 4.8V8l2.2 1.5',
  send: 'M2.5 8h10M9 4.5 12.5 8 9 11.5',
  old: 'M4 2h8M4 14h8M5 2v2.4L8 8l3-3.6V2M5 14v-2.4L8 8l3 3.6V14',
  aside: 'M2 6h12v8H2zM2 6l2-4h8l2 4M6.5 9h3',
  replay: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 2v3h-3',
  find: 'M2.5 7a4.5 4.5 0 1 1 9 0a4.5 4.5 0 1 1-9 0M10.5 10.5l3.5 3.5',
  plus: 'M8 3v10M3 8h10',
  down: 'M4.5 6.5l3.5 3.5 3.5-3.5',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4l-4 4 4 4',
  x: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  copy: 'M7 5.5h5a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1-1.5 1.5h-5a1.5 1.5 0 0 1-1.5-1.5v-5a1.5 1.5 0 0 1 1.5-1.5zM10.5 3.5v-1h-8v8h1',
  test: 'M9 2 3.5 9H8l-1 5 5.5-7H8z',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  start:
    'M3 10.5C3 6.4 6.4 3 10.5 3M9 8.5 7.5 10M5.2 13.2c-1.9 0-2.7-1-2.7-2.5l2.4-.6 1 2.2 2.9-2.9-2.2-1 .6-2.4M10.5 6v3.5H14',
  answer: 'M3 4.5c0 5 3.5 8.5 8.5 8.5l1.5-2.5-3-1.6-1.2 1.2A6 6 0 0 1 5.9 7.2L7.1 6 5.5 3z',
  end: 'M2 10.2c0-2 2.6-3.9 6-3.9s6 1.9 6 3.9l-.6 1.3-3.2-.7V8.6a8 8 0 0 0-4.4 0v2.2l-3.2.7z',
  join: 'M2 8a2 2 0 1 1 4 0a2 2 0 1 1-4 0M10 8a2 2 0 1 1 4 0a2 2 0 1 1-4 0M6 8h4',
  hold: 'M5.5 4v8M10.5 4v8',
  missed: 'M3 5l4.5 4.5L13 4M13 8V4H9M3 8.5V13h4',
  voice: 'M2 8a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0M9 8a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0M4.5 10.5h7',
  queue: 'M3 4h10M3 8h7M3 12h4',
  user: 'M5.5 5.5a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0M3 13.5c.6-2.7 2.5-4 5-4s4.4 1.3 5 4',
  link: 'M6.5 9.5 11.5 4.5M7.5 4.5h4v4M10 10.5v2.5H3V6h2.5',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  screen:
    'M3.5 3h9a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1-1.5 1.5h-9a1.5 1.5 0 0 1-1.5-1.5v-5a1.5 1.5 0 0 1 1.5-1.5zM6 13.5h4',
  bill: 'M3.5 2h9v12l-2-1.3L8.5 14l-2-1.3-3 1.3zM6 5.5h4M6 8.5h4',
  text: 'M2.5 3h11v7.5H7L4 13v-2.5H2.5z',
  half: 'M2.5 8a5.5 5.5 0 1 1 11 0a5.5 5.5 0 1 1-11 0M8 2.5v11',
  key: 'M2.5 8a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0M7.5 8H14M11.5 8v2.5',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  node: 'M3.5 3h9a1 1 0 0 1 1 1v2a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-2a1 1 0 0 1 1-1zM3.5 9h9a1 1 0 0 1 1 1v2a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-2a1 1 0 0 1 1-1zM5 5h.1M5 11h.1',
}

/** The sprite; once, before everything that uses an icon. */
export function IconSprite() {
  return (
    <svg width="0" height="0" class="hidden" aria-hidden="true">
      <defs>
        {Object.entries(DRAWINGS).map(([name, drawing]) => (
          <symbol key={name} id={`i-${name}`} viewBox="0 0 16 16">
            <path d={drawing} stroke-dasharray={name === 'idle' ? '2.2 2.5' : undefined} />
            {name === 'half' && <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />}
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
