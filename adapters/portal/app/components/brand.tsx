/** The host's name and logo. */
import { SETTINGS } from '../api/settings.js'

export function Brand({ href }: { readonly href: string }) {
  return (
    <a class="brand" href={href}>
      {SETTINGS.logoUrl === undefined ? <Bell /> : <img class="logo" src={SETTINGS.logoUrl} alt="" />}
      <span>{SETTINGS.title}</span>
    </a>
  )
}

function Bell() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="7" />
      <path class="cut" d="M6.5 15.5c1.6-1.3 2-2.8 2-5a3.5 3.5 0 0 1 7 0c0 2.2.4 3.7 2 5zM10.6 18.4h2.8" />
    </svg>
  )
}
