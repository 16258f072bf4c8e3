/** Stays in sight at the bottom, under a question of any length. */
export const DOCK =
  'sticky bottom-0 z-20 -mx-4 border-t bg-page/95 px-4 py-3 backdrop-blur sm:-mx-8 sm:px-8 supports-[backdrop-filter]:bg-page/85';
